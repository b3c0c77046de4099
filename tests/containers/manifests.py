# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The examples for Kubernetes, and the rules of its API server and of this project for them."""
import glob
import os
import re

import yaml

from image import RECIPE

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?")
KINDS = {"Pod": "v1", "Service": "v1", "Secret": "v1", "Job": "batch/v1", "DaemonSet": "apps/v1"}
POD_FIELDS = {"restartPolicy", "containers", "volumes", "subdomain", "nodeSelector", "tolerations", "automountServiceAccountToken",
              "hostNetwork"}
CONTAINER_FIELDS = {"name", "image", "command", "args", "env", "securityContext", "resources", "volumeMounts"}
SECURITY_FIELDS = {"runAsNonRoot", "runAsUser", "allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities"}


def documents():
    """Returns [(file, document)] of all examples."""
    found = []
    for path in sorted(glob.glob(os.path.join(RECIPE, "kubernetes", "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            found += [(os.path.basename(path), document) for document in yaml.safe_load_all(file)]
    return found


def pod_of(document):
    """Returns the specification of the pods that it makes, or None."""
    if document["kind"] == "Pod":
        return document["spec"]
    return document["spec"]["template"]["spec"] if "template" in document.get("spec", {}) else None


def check_container(container, volumes, secrets):
    assert set(container) <= CONTAINER_FIELDS, sorted(set(container) - CONTAINER_FIELDS)
    assert NAME.fullmatch(container["name"]) and container["image"] == "gdrkit:latest", container["name"]
    assert all(isinstance(word, str) for word in container["command"]), container["command"]
    for variable in container.get("env", []):
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", variable["name"]), variable
        assert isinstance(variable.get("value", ""), str), f"{variable['name']}: a value must be a string; add quotes"
        assert ("value" in variable) != ("valueFrom" in variable), variable
        reference = variable.get("valueFrom", {}).get("secretKeyRef")
        assert reference is None or reference["key"] in secrets.get(reference["name"], ()), variable
    security = container["securityContext"]
    assert set(security) <= SECURITY_FIELDS, sorted(security)
    assert security["allowPrivilegeEscalation"] is False and security["capabilities"]["drop"] == ["ALL"], security
    assert security.get("runAsNonRoot") or security["runAsUser"] == 0, security
    for kind, amounts in container["resources"].items():
        assert kind in ("limits", "requests") and all(QUANTITY.fullmatch(str(amount)) for amount in amounts.values()), amounts
    mounts = container.get("volumeMounts", [])
    assert {mount["name"] for mount in mounts} == volumes, (mounts, volumes)
    assert all(mount["mountPath"].startswith("/") for mount in mounts), mounts


def check_document(document, secrets=None):
    """Raises AssertionError for what the API server would reject, or this project does not allow in an example."""
    kind = document["kind"]
    assert document["apiVersion"] == KINDS[kind], (kind, document["apiVersion"])
    assert NAME.fullmatch(document["metadata"]["name"]), document["metadata"]
    pod = pod_of(document)
    if pod is None:
        return
    assert set(pod) <= POD_FIELDS, sorted(set(pod) - POD_FIELDS)
    if kind == "DaemonSet":
        labels = document["spec"]["template"]["metadata"]["labels"]
        assert document["spec"]["selector"]["matchLabels"].items() <= labels.items(), labels
    else:
        assert pod["restartPolicy"] in ("Never", "OnFailure"), pod
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    for container in pod["containers"]:
        check_container(container, volumes, secrets or {})


def secrets_of(found):
    return {document["metadata"]["name"]: set(document["stringData"]) for _, document in found if document["kind"] == "Secret"}
