# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Builds the documentation site. Runs the commands of README and docs, unchanged, in a clean Debian (tests/package/run_pages.sh).

build_docs() {
  provide "${needs_of_docs[@]}"
  lacks_any_of "${needs_of_docs[@]}" && die "cannot build the site: dependencies are missing, see above"
  print_step "building the documentation"
  python3 -B scripts/doc_site.py build/docs || die "doxygen reports warnings"
  print_step "the site is build/docs/html/index.html"
}

run_doc_tests() { # folder for the JUnit file; true unless a test failed
  local folder=$root/build/doc-tests line name cases="" failed=0
  mkdir -p "$1" "$folder"
  if [ "$(id -u)" -ne 0 ] || ! has_administrators_tool debootstrap; then
    write_skip docs "the tests of the documented commands require root and debootstrap, to make a clean Debian system" >"$1/docs.xml"
    echo "skipped: making a Debian system requires root and debootstrap (Debian: debootstrap)"
    return 0
  fi
  print_step "running the commands of README and docs in a clean Debian"
  rm -rf "$folder/files"
  python3 -B scripts/doc_commands.py "$folder/files"
  GDRKIT_DEBIAN_FILES=$folder/files bash scripts/clean_debian.sh "${GDRKIT_DEBIAN_FOLDER:-$folder/debian}" \
    bash tests/package/run_pages.sh /root/files 2>&1 | tee "$folder/log"
  grep -x "all pages ran" "$folder/log" >/dev/null || echo "FAIL docs: the pages did not finish" >>"$folder/log"
  while read -r line; do
    name=${line#* }
    case "$line" in
      PASS*) cases+="<testcase name=\"docs.${name%% *}\" status=\"run\"/>" ;;
      FAIL*)
        failed=1
        cases+="<testcase name=\"docs.${name%%: *}\" status=\"fail\"><failure message=\"see the output\"/></testcase>"
        ;;
    esac
  done < <(grep -E '^(PASS|FAIL) ' "$folder/log")
  printf '<testsuite name="docs">%s</testsuite>\n' "$cases" >"$1/docs.xml"
  return "$failed"
}

run_tests_of_docs() {
  local results=$root/build/test-results failed=0
  provide python debootstrap
  run_doc_tests "$results" || failed=1
  python3 scripts/summarise_tests.py "$results/docs.xml" || failed=1
  return "$failed"
}
