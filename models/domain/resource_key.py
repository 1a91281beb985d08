"""One name for a machine, whether a bill or a Kubernetes node says it."""

import re

_AWS_INSTANCE = re.compile(r"(?:^|[/:])(i-[0-9a-f]{8,17})$")
_GCE_PROVIDER_ID = re.compile(r"^gce://([^/]+)/([^/]+)/([^/]+)$")
_GCE_RESOURCE_NAME = re.compile(r"projects/([^/]+)/zones/([^/]+)/instances/([^/]+)$")
_AZURE_PATH = re.compile(r"(/subscriptions/.+)$")


def resource_key(resource: str | None) -> str | None:
    """
    Return the machine's name in the form shared by FOCUS ResourceId and Kubernetes spec.providerID.

    AWS gives the instance id, Google Cloud "gce/<project>/<zone>/<name>", Azure the lower-cased resource path
    (bills and providerIDs differ in case), Oracle the OCID, anything else the text itself in lower case.
    """
    text = (resource or "").strip()
    if not text:
        return None
    if match := _AWS_INSTANCE.search(text):
        return match[1]
    if match := _GCE_PROVIDER_ID.match(text) or _GCE_RESOURCE_NAME.search(text):
        return f"gce/{match[1]}/{match[2]}/{match[3]}".lower()
    lowered = text.lower().removeprefix("oci://")
    if match := _AZURE_PATH.search(lowered):
        return match[1]
    return lowered
