"""Docker, Compose, Kubernetes, Helm, Terraform, Ansible and the clouds' commands."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import CODED, TOOL, TRAILER, Row, Table

TABLE = Table(
    "docker",
    (
        Row("docker-daemon", "Cannot connect to the Docker daemon", r".*?Cannot connect to the Docker daemon.*", TOOL + 1, type="daemon-unreachable", specific=True, transient=True, fixed=True),
        Row("docker-api", "Error response from daemon", r"(?:docker: )?Error response from daemon: (?P<message>.*)", TOOL),
        Row("docker-solve", "failed to solve", r"(?:ERROR|error): failed to solve: (?P<message>.*)", TRAILER + 2, type="build-failed"),
        Row("docker-parse", "dockerfile parse error", r".*?(?P<message>dockerfile parse error.*)", TOOL, type="dockerfile-parse-error"),
        Row("docker-step", "returned a non-zero code", r"The command '(?P<symbol>.*)' returned a non-zero code: \d+", TRAILER + 1, type="build-failed", fixed=True),
        Row("compose-service", "no such service", r"no such service: (?P<symbol>\S+)", TOOL, type="no-such-service", fixed=True),
        Row("k8s-server", "Error from server", r"Error from server(?: \((?P<type>\w+)\))?: (?P<message>.*)", TOOL, language="kubernetes"),
        Row("k8s-connect", "The connection to the server", r"The connection to the server \S+ was refused.*", TOOL, language="kubernetes", type="connection-refused", specific=True, transient=True, fixed=True),
        Row("k8s-pod", "BackOff", r".*?\b(?P<type>CrashLoopBackOff|ImagePullBackOff|ErrImagePull|CreateContainerConfigError|OOMKilled)\b.*", TOOL - 1, language="kubernetes", specific=True, fixed=True, strong=False),
        *(
            Row("helm", f"{what} FAILED", rf"Error: (?P<message>{what} FAILED: .*)", TOOL, language="kubernetes")
            for what in ("INSTALLATION", "UPGRADE")
        ),
        Row("terraform", "Error: ", r"(?:│ |\| )Error: (?P<message>.*)", TOOL + 2, language="terraform"),
        Row("terraform-plain", "Error: ", r"Error: (?P<message>(?:Invalid|Unsupported|Missing|Reference to undeclared|Duplicate|Failed to (?:query|install|load|read)|Inconsistent|Provider|Backend|Module|Error (?:acquiring|locking)|Unknown|Incorrect|Argument|Attribute|Cycle).*)", TOOL - 1, language="terraform"),
        Row("ansible", "FAILED! => ", r"fatal: \[(?P<symbol>[^\]]*)\]: FAILED! => (?P<message>.*)", TOOL + 1, language="ansible", type="task-failed"),
        Row("aws", "An error occurred (", r".*?An error occurred \((?P<type>\w+)\) when calling the (?P<symbol>\w+) operation.*?: (?P<message>.*)", TOOL + 1, language="aws", specific=True),
        *(
            Row("hadolint", mark, r"(?P<file>\S*Dockerfile\S*):\d+ (?P<type>DL\d{4}|SC\d{4}) (?P<message>.*)", CODED, specific=True)
            for mark in (" DL3", " DL4", " SC1", " SC2")
        ),
    ),
)  # fmt: skip
