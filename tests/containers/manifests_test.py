#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The recipe and the examples in packaging/containers: they are well-formed, request no more than they need, and use
existing commands, options and files."""
import copy
import glob
import os
import re
import subprocess

from image import RECIPE, SOURCE
from program import BIN, Test, main, run

try:
    import manifests
except ImportError:
    manifests = None

SLURM = sorted(glob.glob(os.path.join(RECIPE, "slurm", "*.sbatch")))
# A fake srun: starts the tasks that its options and the batch's lines request, with the variables of a step.
SRUN = """#!/bin/bash
tasks=$TASKS
while [[ $1 == --* ]]; do
  case $1 in
    --ntasks-per-node=*) tasks=${1#*=} ;;
    --cpu-bind=none) ;;
    --container-image=gdrkit:latest) in_container=1 ;;
    --container-mounts=/dev/gdrdrv:/dev/gdrdrv) echo "gdrdrv is mounted" ;;
    *) echo "srun: invalid option $1" >&2; exit 1 ;;
  esac
  shift
done
echo "tasks: $tasks container: ${in_container:-0}"
export SLURM_STEP_NUM_TASKS=$tasks SLURM_NTASKS=$tasks SLURM_STEP_ID=0
pids=()
for ((task = 0; task < tasks; ++task)); do
  SLURM_PROCID=$task SLURM_LOCALID=$task "$@" &
  pids+=($!)
done
status=0
for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
exit $status
"""
# One check is sufficient here: tests/shmem has the others.
GDRKIT = f"""#!/bin/bash
[ "$1 $2" != "shmem check" ] || set -- "$@" -t identity
exec {BIN}/gdrkit "$@"
"""
APPTAINER = '#!/bin/bash\n[ "$1 $2 $3" = "exec --nv gdrkit.sif" ] || { echo "apptainer: $*" >&2; exit 1; }\nshift 3\nexec "$@"\n'


class KubernetesExamples(Test):
    def setUp(self):
        if manifests is None:
            self.skipTest("PyYAML not found (Debian: python3-yaml)")
        self.documents = manifests.documents()

    def test_every_document_follows_the_rules(self):
        kinds = set()
        for file, document in self.documents:
            with self.subTest(file, kind=document["kind"]):
                manifests.check_document(document, manifests.secrets_of(self.documents))
                kinds.add(document["kind"])
        self.assertEqual(kinds, set(manifests.KINDS))

    def test_rules_reject_documents_that_the_api_server_rejects(self):
        good = next(document for file, document in self.documents if file == "doctor.yaml")
        manifests.check_document(good)

        def container(document):
            return manifests.pod_of(document)["containers"][0]

        for change in (lambda d: d.update(apiVersion="v1"), lambda d: d["metadata"].update(name="Doctor_1"),
                       lambda d: d["spec"]["selector"]["matchLabels"].update(app="other"),
                       lambda d: manifests.pod_of(d).update(nodeselector={}), lambda d: container(d)["env"][0].update(value=300),
                       lambda d: container(d)["securityContext"].update(privileged=True),
                       lambda d: container(d)["volumeMounts"][0].update(name="hosts"),
                       lambda d: container(d)["resources"]["limits"].update(memory="128 MB"),
                       lambda d: container(d)["env"][0].pop("value")):
            spoilt = copy.deepcopy(good)
            change(spoilt)
            with self.assertRaises(AssertionError):
                manifests.check_document(spoilt)

    def test_every_command_and_variable_exists(self):
        text = self.read(SOURCE, "docs", "environment.md")
        called = 0
        for _, document in self.documents:
            for container in (manifests.pod_of(document) or {"containers": []})["containers"]:
                for subcommand, options in re.findall(r"gdrkit (\w+)((?: --?[\w-]+(?: /\w+)?)*)", " ".join(container["command"])):
                    help_text = run("gdrkit", subcommand, "--help").out
                    self.assertTrue(help_text, subcommand)
                    for option in re.findall(r"--[\w-]+", options):
                        self.assertIn(option, help_text)
                    called += 1
                for variable in container.get("env", []):
                    if variable["name"].startswith("GDRKIT_"):
                        self.assertIn(variable["name"], text)
        self.assertGreater(called, 3)

    def test_service_name_resolves_to_pe_0(self):
        job = {document["kind"]: document for file, document in self.documents if file == "one-gpu-each.yaml"}
        pod, service = manifests.pod_of(job["Job"]), job["Service"]
        variables = {entry["name"]: entry.get("value") for entry in pod["containers"][0]["env"]}
        self.assertEqual(variables["GDRKIT_SHMEM_ROOT"], f"{job['Job']['metadata']['name']}-0.{service['metadata']['name']}:"
                                                         f"{service['spec']['ports'][0]['port']}")
        self.assertEqual(pod["subdomain"], service["metadata"]["name"])
        self.assertEqual(variables["GDRKIT_SHMEM_NPES"], str(job["Job"]["spec"]["completions"]))

    def test_image_name_matches_the_recipe(self):
        recipe = self.read(RECIPE, "Containerfile")
        self.assertIn("-t gdrkit .", recipe)
        self.assertNotIn("NVIDIA_VISIBLE_DEVICES=", recipe)  # a pod without GPUs would have access to all of them
        for path in re.findall(r"packaging/containers/\S+", recipe):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, path)), path)
        usage = subprocess.run([os.path.join(RECIPE, "image.sh")], capture_output=True, text=True, check=False)
        self.assertEqual(usage.returncode, 2)
        steps = re.findall(r"image\.sh (\w+)", recipe)
        self.assertEqual(steps, ["build", "prepare"])
        self.assertEqual(set(re.findall(r"image\.sh (\w+)", usage.stderr)), {*steps, "install"})


class SlurmExamples(Test):
    """Each batch script on the emulated device, with fakes of srun and Apptainer."""

    def submit(self, script):
        for name, text in (("srun", SRUN), ("apptainer", APPTAINER), ("gdrkit", GDRKIT)):
            self.write(name, text, 0o755)
        return subprocess.run(["bash", script], cwd=self.directory, capture_output=True, text=True, timeout=240, check=False, env={
            **os.environ, "PATH": f"{self.directory}:{os.environ['PATH']}", "GDRKIT_BACKEND": "emulated", "TASKS": "2", "GDRDRV": "1",
            "GDRKIT_SHMEM_ROOT": f"127.0.0.1:{20000 + os.getpid() % 10000}"})

    def test_sbatch_lines_contain_valid_options(self):
        self.assertEqual([os.path.basename(script) for script in SLURM], ["apptainer.sbatch", "native.sbatch", "pyxis.sbatch"])
        for script in SLURM:
            lines = self.read(script).splitlines()
            directives = [line for line in lines if line.startswith("#SBATCH")]
            self.assertEqual(lines[1:1 + len(directives)], directives, "sbatch ignores options after the first other line")
            for line in directives:
                self.assertRegex(line, r"^#SBATCH --(job-name=[\w-]+|nodes=\d+|ntasks-per-node=\d+|gpus-per-node=\d+|time=[\d:]+)$")
            self.assertEqual(subprocess.run(["bash", "-n", script], check=False).returncode, 0)

    def test_every_script_runs(self):
        for script in SLURM:
            with self.subTest(os.path.basename(script)):
                ended = self.submit(script)
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertIn("tasks: 1", ended.stdout)
                self.assertIn("tasks: 2", ended.stdout)
                self.assertRegex(ended.stdout, r"2 PEs on")
                self.assertIn("1 check passed", ended.stdout)
                self.assertEqual("container: 1" in ended.stdout, "pyxis" in script)
                self.assertEqual(ended.stdout.count("gdrdrv is mounted"), 2 if "pyxis" in script else 0)


if __name__ == "__main__":
    main()
