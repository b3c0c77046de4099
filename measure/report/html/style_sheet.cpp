// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Colours of the curves have a contrast of 3:1 with the page in both schemes and differ for all common kinds of colour
// blindness; print is black on white. The narrow drawing of a chart replaces the wide one if there is too little space.
#include "measure/report/page.hpp"

namespace gdrkit::measure::report {

const char* const style_sheet = R"(:root{color-scheme:light dark;
--page:#fff;--ink:#1b1f24;--quiet:#57606a;--rule:#d0d7de;--grid:#e6eaee;--panel:#f6f8fa;--accent:#0060a0;--warn:#fff4d6;--warn-rule:#b87800;
--k0:#0068a8;--k1:#bf4b00;--k2:#00795a;--k3:#a13a7d;--k4:#7d6200;--k5:#5a4fc4;--k6:#505860;--k7:#1583a8;
--s0:#f7fafc;--s1:#e4eff7;--s2:#cfe3f1;--s3:#b8d6ea;--s4:#9ec8e2;--s5:#82b8d9;--s6:#6fadd2;--s7:#5ea2cb;--s8:#4f97c4}
@media (prefers-color-scheme:dark){:root{
--page:#0f1419;--ink:#e6e9ec;--quiet:#9aa5b1;--rule:#38424d;--grid:#232b33;--panel:#182028;--accent:#6fb8f0;--warn:#33290f;--warn-rule:#d9a520;
--k0:#58b4f0;--k1:#ff9a4d;--k2:#3ecf9f;--k3:#f08cc4;--k4:#e0c040;--k5:#aaa0ff;--k6:#b4bcc4;--k7:#7fd8e8;
--s0:#151c23;--s1:#17252f;--s2:#192e3d;--s3:#1b384c;--s4:#1d425b;--s5:#1f4d6b;--s6:#21587c;--s7:#23648e;--s8:#2570a0}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:74rem;padding:1.5rem 1.25rem 4rem;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.01em}
h2{font-size:1.45rem;line-height:1.25;margin:2rem 0 .3rem;padding-top:1rem;border-top:2px solid var(--ink)}
h3{font-size:1.15rem;margin:1.4rem 0 .3rem}
h4{font-size:1rem;margin:1.2rem 0 .3rem}
h5{font-size:.9rem;margin:0 0 .2rem}
p{margin:.3rem 0 .6rem;max-width:58rem}
header p,article>p{color:var(--quiet)}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
nav{margin:1rem 0 0;font-size:.9rem}
nav ul{list-style:none;margin:0;padding:0}
nav>ul>li{margin:.4rem 0}
nav ul ul{display:flex;flex-wrap:wrap;gap:.15rem 1rem}
.warning,article>p.warning{color:var(--ink);background:var(--warn);border-left:4px solid var(--warn-rule);padding:.5rem .8rem;max-width:none}
.tiles{list-style:none;display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.75rem;margin:.5rem 0 0;padding:0}
.tiles li{display:flex;flex-direction:column;background:var(--panel);border:1px solid var(--rule);border-radius:.4rem;padding:.7rem .9rem}
.tiles .label,.tiles .note{font-size:.85rem;line-height:1.35;color:var(--quiet)}
.tiles .value{font-size:1.6rem;line-height:1.35;font-weight:600;font-variant-numeric:tabular-nums}
.tiles .label{flex-grow:1}
.sentences{margin:.3rem 0 .8rem;padding-left:1.2rem;max-width:58rem}
.sentences li{margin:.25rem 0}
dl{margin:.4rem 0;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:0 1.8rem;border-top:1px solid var(--grid)}
dl div{display:grid;grid-template-columns:11rem 1fr;gap:1rem;padding:.3rem 0;border-bottom:1px solid var(--grid)}
dt{color:var(--quiet)}
dd{margin:0}
figure{margin:.4rem 0 1rem}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:0 1.8rem}
.columns figure{display:flex;flex-direction:column;min-width:0;max-width:36rem}
.columns .legend{flex-grow:1;align-content:flex-start}
.columns h4{margin-top:.4rem}
.tables{display:flex;flex-wrap:wrap;gap:0 2.5rem}
.tables .scroll{max-width:100%}
figcaption{font-size:.85rem;color:var(--quiet);margin:.2rem 0 .3rem;max-width:46rem}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;margin:.2rem 0 .4rem;padding:0;font-size:.85rem}
.legend li{display:flex;align-items:center;gap:.45rem}
.swatch{flex:none}
.row{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr));gap:0 1.5rem}
.chart{display:block;width:100%;height:auto}
.row .chart{max-width:26rem}
.row figure{display:flex;flex-direction:column;min-width:0}
.row h5{flex-grow:1}
.narrow{display:none}
.chart text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--quiet);font-variant-numeric:tabular-nums}
.chart path,.swatch path{fill:none;stroke-width:1}
.chart .grid{stroke:var(--grid)}
.chart .axis{stroke:var(--quiet)}
.chart .reference{stroke:var(--ink);stroke-dasharray:2 3}
.chart .curve,.swatch .curve{stroke:var(--k);stroke-width:1.75;stroke-linejoin:round}
.chart .band{fill:var(--grid);stroke:none}
.chart .whisker{stroke:var(--k)}
.chart .mark,.swatch .mark{fill:var(--k);stroke:var(--page);stroke-width:.6}
.k0{--k:var(--k0)}.k1{--k:var(--k1)}.k2{--k:var(--k2)}.k3{--k:var(--k3)}.k4{--k:var(--k4)}.k5{--k:var(--k5)}.k6{--k:var(--k6)}.k7{--k:var(--k7)}
.chart .k0 .curve,.swatch.k0 .curve{stroke-width:2.5}
.k1 .curve{stroke-dasharray:7 3}.k2 .curve{stroke-dasharray:2 2.5}.k3 .curve{stroke-dasharray:9 3 2 3}.k4 .curve{stroke-dasharray:4 2}.k5 .curve{stroke-dasharray:9 3 2 3 2 3}.k6 .curve{stroke-dasharray:12 3}.k7 .curve{stroke-dasharray:1 3}
details{margin:.2rem 0 .6rem;font-size:.9rem}
summary{cursor:pointer;color:var(--accent);font-size:.85rem}
.scroll{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;color:var(--quiet);padding:.2rem 0}
th,td{padding:.22rem .7rem .22rem 0;border-bottom:1px solid var(--grid);text-align:right;font-weight:400;max-width:20rem}
td{white-space:nowrap}
thead th{color:var(--quiet);vertical-align:bottom;border-bottom:1px solid var(--rule);min-width:5.5rem;overflow-wrap:anywhere}
th:first-child{text-align:left;overflow-wrap:anywhere;min-width:9.5rem}
.matrix th,.matrix td{padding:.4rem .7rem;border:1px solid var(--page)}
.matrix th,.matrix thead th{min-width:0}
.matrix td{min-width:4rem}
.s0{background:var(--s0)}.s1{background:var(--s1)}.s2{background:var(--s2)}.s3{background:var(--s3)}.s4{background:var(--s4)}.s5{background:var(--s5)}.s6{background:var(--s6)}.s7{background:var(--s7)}.s8{background:var(--s8)}
.none{color:var(--quiet)}
@media (max-width:36rem){
body{padding:1rem .9rem 3rem}
h1{font-size:1.5rem}h2{font-size:1.25rem}
dl div{grid-template-columns:1fr;gap:0}
.tiles{grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.5rem}
.tiles .value{font-size:1.3rem}
.wide{display:none}.narrow{display:block}}
@media print{
:root{color-scheme:light;--page:#fff;--ink:#000;--quiet:#222;--rule:#555;--grid:#ccc;--panel:#fff;--accent:#000;--warn:#fff;--warn-rule:#000;
--k0:#000;--k1:#9a3c00;--k2:#00634a;--k3:#8a2f6b;--k4:#6b5400;--k5:#443aa8;--k6:#555;--k7:#0f6a88;
--s0:#fff;--s1:#f4f4f4;--s2:#ececec;--s3:#e3e3e3;--s4:#dadada;--s5:#d0d0d0;--s6:#c6c6c6;--s7:#bcbcbc;--s8:#b0b0b0}
@page{margin:16mm 14mm}
body{max-width:none;padding:0;font-size:10pt}
nav,details{display:none}
article+article{break-before:page}
h2{margin-top:0}
h2,h3,h4,h5{break-after:avoid}
figure,.tiles li,dl div,tr{break-inside:avoid}
thead{display:table-header-group}
.scroll{overflow:visible}
.wide{display:block}.narrow{display:none}
.row{grid-template-columns:1fr 1fr}
.tiles{grid-template-columns:repeat(4,1fr)}
td{white-space:normal}
table{font-size:7.5pt}
th,td,thead th{padding:.15rem .35rem .15rem 0;min-width:0}
.matrix th,.matrix td{padding:.25rem .3rem;min-width:0;border-color:#999}
td,th{-webkit-print-color-adjust:exact;print-color-adjust:exact}
a{text-decoration:none}}
)";

}  // namespace gdrkit::measure::report
