"""What a tool call does: its programs, its same-command key, whose status it reports, what it changes."""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache

from vlk2.domain import change as changing
from vlk2.domain.observation import Act, Change
from vlk2.frozen import dataclass
from vlk2.hints import NamedTuple, cast


@dataclass(frozen=True, slots=True)
class Command:
    """One call, taken apart.

    `key` compares by "same command" (rule 8): two calls with equal, non-empty keys differ at most in `cd`,
    environment prefixes, redirections, trailing pipes, `|| true` and verbosity. It holds the command's own
    words, unmasked: hash it before it is stored. `programs` are the base names of everything a shell line
    starts, in order, `last_program` the one whose exit code the caller sees ("" when it is not a shell line).
    `own_status` says that success or failure of the whole call is that of the keyed command. `changes` says
    that the call may alter files or the environment; `place` is the file a file tool names, or the first file
    that a shell line writes. `pause` is the time in seconds that it sleeps on purpose. `is_shell`
    tells a shell line from a tool of the client; `subcommand` is the first plain word after the last program. `asks`
    says that the keyed command is given a literal text (`echo '…' | program`): its status answers about that.
    """

    act: Act
    key: str = ""
    programs: tuple[str, ...] = ()
    last_program: str = ""
    own_status: bool = True
    changes: bool = False
    change: Change = Change.NONE
    place: str = ""
    pause: float = 0.0
    is_shell: bool = False
    asks: bool = False
    subcommand: str = ""


class _Stage(NamedTuple):
    """One simple command of a pipeline: its words, the files it writes, the text given to it on stdin."""

    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    given: str = ""


class _Pipeline(NamedTuple):
    """Stages joined by `|`, and the operator that follows: `&&`, `||`, `;` (also a line end), `&` or ""."""

    stages: tuple[_Stage, ...]
    then: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHELLS = _words(
    "bash shell exec exec_command local_shell container.exec run_shell_command execute_bash terminal run "
    "cmd_run execute_command shell_command run_command run_terminal_cmd powershell execute sh zsh"
)
_EDITS = _words(
    "edit multiedit multi_edit write notebookedit apply_patch replace write_file patch edit_file create_file "
    "replace_in_file write_to_file apply_diff search_replace search_and_replace insert_content delete "
    "delete_file str_replace insert fileeditor filewrite create file_edit strreplace"
)
_READS = _words(
    "read grep glob ls read_file read_many_files view view_file grep_search search_file_content file_search "
    "list_directory list_dir list list_files open webfetch websearch web_fetch web_search google_web_search "
    "search_files codebase_search find_file search_dir search_file scroll_down scroll_up goto todoread lsp "
    "list_code_definition_names fetch taskoutput bashoutput"
)
_EDITORS = _words("str_replace_editor str_replace_based_edit_tool file_editor oh_editor")
_PATHS = (
    "file_path",
    "path",
    "filePath",
    "notebook_path",
    "target_file",
    "filename",
    "file",
    "absolute_path",
)

# Programs that only look. Whatever else they print, they leave files as they were.
_LOOKERS = _words(
    "cat head tail less more bat nl ls ll tree find fd locate file stat wc du df pwd which type whereis whoami "
    "grep egrep fgrep zgrep rg ag ack diff cmp comm sort uniq cut tr column fold rev tac paste jq yq xxd "
    "hexdump od strings readlink realpath basename dirname date env printenv id uname hostname ps pgrep lsof "
    "echo printf test [ true : man help history nproc free uptime md5sum sha1sum sha256sum cksum open goto "
    "scroll_up scroll_down find_file search_dir search_file sleep wait seq expr command cal tput clear awk sed"
)
_FILTERS = _LOOKERS - _words("find fd ls test [ sleep wait command") | _words(
    "tee xargs perl gawk mawk ansi2txt ts pv"
)
_EDITING = _words(
    "tee patch apply_patch cp mv rm mkdir rmdir touch ln chmod chown truncate install dd rsync unzip tar "
    "edit create insert ed ex sponge dos2unix"
)
_GIT_LOOKS = _words(
    "status log diff show blame branch grep ls-files ls-tree rev-parse describe reflog shortlog cat-file "
    "remote config tag stash-list for-each-ref rev-list merge-base name-rev whatchanged fsck"
)
_GIT_EDITS = _words(
    "checkout restore reset stash apply clean rm mv revert am cherry-pick merge rebase pull switch add "
    "worktree submodule init"
)
_PRELUDE = _words(
    "cd pushd popd export source . set unset alias ulimit umask true : echo printf sleep wait pwd clear shopt "
    "conda-activate trap date read let local declare unalias hash"
)
_KEYWORDS = _words("if then elif else fi for while until do done case esac in { } ! [[ function select")
_HEADS = _words("for case in select function")
_WRAPPERS = _words(
    "sudo env time nice nohup stdbuf command exec builtin xvfb-run caffeinate unbuffer ionice setsid doas xargs"
)
_WRAPPER_VALUES = {
    "sudo": ("-u", "-g", "-C"),
    "env": ("-u", "-C"),
    "nice": ("-n",),
    "ionice": ("-c", "-n"),
    "stdbuf": ("-i", "-o", "-e"),
    "xargs": ("-n", "-I", "-P", "-d", "-L", "-s"),
}
_RUNNERS = frozenset(
    {
        ("npx",),
        ("bunx",),
        ("pnpx",),
        ("uvx",),
        ("uv", "run"),
        ("poetry", "run"),
        ("pipenv", "run"),
        ("pdm", "run"),
        ("hatch", "run"),
        ("rye", "run"),
        ("bundle", "exec"),
        ("pnpm", "exec"),
        ("pnpm", "dlx"),
        ("yarn", "exec"),
        ("yarn", "dlx"),
        ("npm", "exec"),
        ("mise", "exec"),
        ("asdf", "exec"),
        ("rtk",),
    }
)
# Options that change how much is said, how it looks or how fast it goes, never what is run.
_TALK = _words(
    "-v -vv -vvv -vvvv -q -qq --verbose --quiet --silent --no-color --color --colour --colors --nocolor "
    "--no-header --no-summary --progress --no-progress --stacktrace --info --debug --no-cache-dir -rA -ra -rf "
    "-rs --full-trace --showlocals -l --no-cov --pretty --no-banner --noinput --no-input -y --yes --trace "
    "--no-daemon --backtrace --disable-warnings --show-capture --nocapture --no-capture --batch-mode"
)
_TALK_VALUES = ("--tb=", "--color=", "--verbosity=", "-v=", "--durations=", "--log-level=", "--loglevel=",
                "--progress=", "--verbose=", "--console=", "--log-cli-level=", "--reporter=", "--format=", "-W", "--maxfail=100")  # fmt: skip
_TALK_PAIRS = _words("--tb --verbosity --log-level --loglevel --durations --reporter --color -W")
# What a commit or a request says of itself is no target.
_SAID = _words("-m -am --message --title --body -F --body-file")
_ANSWERS = _words(
    "grep egrep fgrep zgrep rg ag ack diff cmp comm test [ [[ pgrep which type command expr false colordiff "
    "pidof systemctl lsof whereis hash let"
)
_SED_IN_PLACE = ("-i", "--in-place")
_LONGEST = 32_768


@cache
def _scanner() -> re.Pattern[str]:
    return re.compile(r"""[^\s'"`\\$&|;<>()#]+""")


@cache
def _heredoc() -> re.Pattern[str]:
    return re.compile(r"<<(-?)[ \t]*(['\"]?)([A-Za-z_][\w.-]*)\2")


@cache
def _redirection() -> re.Pattern[str]:
    return re.compile(r"(?:&>>?|\d*(?:>>|>\||>&|>|<&|<))")


@cache
def _assignment() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_]\w*\+?=")


@cache
def _named() -> re.Pattern[str]:
    return re.compile(r"([A-Za-z_][\w.\-]*)(?:\([^)\n]*\))?:(?:[ \t]|\Z)")


def parse_action(action: str) -> Command:
    """Take apart the neutral form `TOOL: command`; without a known shape it is a shell line."""
    if match := _named().match(action):
        return parse(match.group(1), action[match.end() :])
    if action and not action.split(None, 1)[1:] and action.startswith(("vlk_", "mcp__", "mcp_")):
        return parse(action.strip(), "")
    return parse("", action)


def parse(tool: str, command: str, arguments: str = "") -> Command:
    """Take one call apart: `tool` is the client's own name ("" for a bare shell line).

    `command` is a shell line, a path, or arguments as JSON (`NO_ACTION` stands for a reply without a call); `arguments` the canonical JSON where the client
    gave it beside the command. Never raises; what it cannot read becomes a call of act OTHER.
    """
    name = tool.lower()
    if name.startswith("no_action"):
        return Command(Act.OTHER)
    if is_shell(name):
        return _shell_line(command)
    short = name.rsplit("__", 1)[-1] if name.startswith("mcp__") else name
    if name in _EDITORS or short in _EDITORS:
        return _editor(short, command, arguments)
    if short in _EDITS:
        return _file_tool(Act.EDIT, short, command, arguments)
    if short in _READS:
        return _file_tool(Act.READ, short, command, arguments)
    words = " ".join(command.split())
    return Command(Act.OTHER, key=f"{name} {words}".strip() if words else "", changes=False)


def answers_by_exit(command: Command | str) -> bool:
    """Whether exit 1 of this call is an answer (no match, differs, untrue) and not a failure (rule 2)."""
    taken = parse_action(command) if isinstance(command, str) else command
    if taken.last_program == "git":
        return taken.subcommand in ("grep", "diff", "merge-base", "check-ignore")
    return taken.last_program in _ANSWERS or (not taken.is_shell and taken.act is Act.READ)


def is_shell(tool: str) -> bool:
    """Whether a client's tool of this name runs shell lines ("" is a bare shell line)."""
    return not tool or tool.lower() in _SHELLS


def _json(text: str) -> dict[str, object]:
    if text.startswith("{"):
        try:
            found: object = json.loads(text)
        except ValueError:
            return {}
        if isinstance(found, dict):
            return cast("dict[str, object]", found)
    return {}


def _path(fields: dict[str, object], command: str) -> str:
    for name in _PATHS:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    if command.startswith("{"):
        for name in _PATHS:
            mark = f'"{name}": "'
            if (at := command.find(mark)) >= 0:
                return command[at + len(mark) :].split('"', 1)[0]
        return ""
    if command.startswith("*** "):
        for line in command.splitlines()[:8]:
            if line.startswith(("*** Update File: ", "*** Add File: ", "*** Delete File: ")):
                return line.split(": ", 1)[1].strip()
        return ""
    return command.split(None, 1)[0] if command.strip() else ""


def _file_tool(act: Act, tool: str, command: str, arguments: str) -> Command:
    fields = {**_json(arguments), **_json(command)}
    place = _path(fields, command)
    words = command if act is Act.READ else place
    return Command(
        act,
        key=f"{tool} {words}".strip() if words else "",
        place=place,
        changes=act is Act.EDIT,
        change=_file_change(fields, command) if act is Act.EDIT else Change.NONE,
    )


def _file_change(fields: dict[str, object], command: str) -> Change:
    def text(*names: str) -> str:
        return next((value for name in names if isinstance(value := fields.get(name), str)), "")

    if "*** Begin Patch" in command:
        return changing.of_patch(command)
    new = text("new_string", "new_str", "insert_text", "newString", "replace")
    old = text("old_string", "old_str", "oldString", "search")
    if new or old:
        return changing.of_replacement(old, new)
    written = text("content", "file_text", "contents")
    return changing.of_script(written) if written else Change.EDIT


def _editor(tool: str, command: str, arguments: str) -> Command:
    fields = {**_json(arguments), **_json(command)}
    verb = fields.get("command")
    if isinstance(verb, str):
        tool = f"{tool} {verb}"
    edits = ("old_str", "new_str", "file_text", "insert_line", "insert_text")
    looks = (
        verb == "view"
        if isinstance(verb, str)
        else not any(name in fields or f'"{name}"' in command[:4096] for name in edits)
    )
    return _file_tool(Act.READ if looks else Act.EDIT, tool, command, arguments)


@lru_cache(maxsize=4)  # the verdict and the loop rule ask about the same line
def _shell_line(line: str) -> Command:
    text = line.strip()
    if not text or text.startswith("NO_ACTION"):
        return Command(Act.OTHER)
    if text.startswith("edit ") and text[5:6].isdigit():
        head = text.split("\n", 1)[0]
        return Command(Act.EDIT, head, ("edit",), last_program="edit", changes=True, change=Change.EDIT)
    if text.startswith("*** Begin Patch"):
        place = _path({}, text)
        return Command(
            Act.EDIT, f"apply_patch {place}", place=place, changes=True, change=changing.of_patch(text)
        )
    pipelines = _lex(text[:_LONGEST])
    heads = [(_bare(stage.words), stage) for pipe in pipelines for stage in pipe.stages]
    programs = tuple(_program(words) for words, _ in heads if words)
    writes = [path for _, stage in heads for path in stage.writes if not path.startswith(("/dev/", "&"))]
    looks = all(_looks(words) for words, _ in heads)
    edits = bool(writes) or any(_edits(words) for words, _ in heads)
    runs = not all(_looks(words) or _edits(words) or _program(words) in _PRELUDE for words, _ in heads)
    last = _bare(pipelines[-1].stages[-1].words) if pipelines else ()
    if not programs:
        return Command(Act.OTHER, is_shell=True)
    return Command(
        act=Act.RUN if runs else Act.EDIT if edits else Act.READ,
        key=_key(pipelines),
        programs=programs,
        last_program=_program(last),
        own_status=_own_status(pipelines),
        changes=not looks or edits,
        change=_change(heads),
        place=writes[0] if writes else _edited_file(heads),
        pause=_pause(heads),
        is_shell=True,
        asks=any(
            _program(_bare(stages[0].words)) in ("echo", "printf") and len(stages) > 1
            for _, stages in _main(pipelines)
        ),
        subcommand=_subcommand(last),
    )


def _lex(text: str) -> list[_Pipeline]:
    """Split a shell line into pipelines of simple commands; quoting removed, here-documents attached."""
    pipelines: list[_Pipeline] = []
    stages: list[_Stage] = []
    words: list[str] = []
    writes: list[str] = []
    given: list[str] = []
    waiting: list[str] = []
    word: list[str] | None = None
    target = ""
    scan = _scanner()
    at, end = 0, len(text)

    def close_word() -> None:
        nonlocal word, target
        if word is not None:
            value = "".join(word)
            if target:
                if ">" in target and not target.endswith("&"):
                    writes.append(value)
                target = ""
            else:
                words.append(value)
            word = None

    def close_stage() -> None:
        close_word()
        if words or writes:
            stages.append(_Stage(tuple(words), tuple(writes), "".join(given)))
        words.clear()
        writes.clear()
        given.clear()

    def close_pipeline(operator: str) -> None:
        close_stage()
        if stages:
            pipelines.append(_Pipeline(tuple(stages), operator))
            stages.clear()
        elif pipelines and operator in ("&&", "||"):
            pipelines[-1] = _Pipeline(pipelines[-1].stages, operator)

    while at < end:
        sign = text[at]
        if sign == "\n":
            if waiting:
                close_word()
                at = _bodies(text, at + 1, waiting, given)
                waiting.clear()
            else:
                at += 1
            close_pipeline(";")
            continue
        if sign in " \t\r":
            close_word()
            at += 1
        elif sign == "#" and word is None:
            at = _line_end(text, at)
        elif sign == "\\":
            if text[at + 1 : at + 2] == "\n":
                at += 2
                continue
            word = word or []
            word.append(text[at + 1 : at + 2])
            at += 2
        elif sign in "'\"`":
            stop = _closing(text, at)
            word = word or []
            word.append(text[at + 1 : stop])
            at = stop + 1
        elif sign == "$":
            stop = _dollar(text, at)
            word = word or []
            word.append(text[at:stop])
            at = stop
        elif sign == "<" and (match := _heredoc().match(text, at)):
            close_word()
            waiting.append(match.group(3))
            at = match.end()
        elif text.startswith("<<<", at):
            close_word()
            target, at = "<<<", at + 3
        elif text.startswith("&&", at) or text.startswith("||", at):
            close_pipeline(text[at : at + 2])
            at += 2
        elif match := _redirection().match(text, at):
            if word is not None and "".join(word).isdigit():
                word = None
            close_word()
            target, at = match.group().lstrip("0123456789"), match.end()
        elif sign == "|":
            close_stage()
            at += 2 if text.startswith("|&", at) else 1
        elif sign in ";&":
            close_pipeline(sign)
            at += 1
        elif sign in "()":
            close_pipeline(";") if sign == "(" and not words else close_word()
            at += 1
        elif match := scan.match(text, at):
            word = word or []
            word.append(match.group())
            at = match.end()
        else:
            word = word or []
            word.append(sign)
            at += 1
    close_pipeline("")
    return pipelines


def _line_end(text: str, at: int) -> int:
    stop = text.find("\n", at)
    return len(text) if stop < 0 else stop


def _bodies(text: str, at: int, marks: list[str], given: list[str]) -> int:
    """Read the here-documents that begin at `at` into `given`; answer where the script goes on."""
    for mark in marks:
        start = at
        while at < len(text):
            stop = _line_end(text, at)
            if text[at:stop].strip() == mark:
                break
            at = stop + 1
        given.append(text[start : min(at, len(text))])
        at = min(_line_end(text, at) + 1, len(text)) if at < len(text) else at
    return at


def _closing(text: str, at: int) -> int:
    quote, stop = text[at], at + 1
    while stop < len(text) and text[stop] != quote:
        stop += 2 if text[stop] == "\\" and quote != "'" else 1
    return min(stop, len(text))


def _dollar(text: str, at: int) -> int:
    opening = text[at + 1 : at + 2]
    if opening not in ("(", "{"):
        return at + 1
    closing, depth, stop = {"(": ")", "{": "}"}[opening], 0, at + 1
    while stop < len(text):
        sign = text[stop]
        if sign in "'\"":
            stop = _closing(text, stop)
        elif sign == opening:
            depth += 1
        elif sign == closing:
            depth -= 1
            if depth == 0:
                return stop + 1
        stop += 1
    return len(text)


def _bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without keywords, assignments and wrappers such as `sudo`, `timeout 60` and `uv run`."""
    rest = list(words)
    while rest:
        head = rest[0]
        name = head.rsplit("/", 1)[-1]
        if head in _HEADS and head != "in":
            return ()
        if head in _KEYWORDS or _assignment().match(head):
            del rest[0]
        elif name in _WRAPPERS and len(rest) > 1 and not (name == "command" and rest[1] in ("-v", "-V")):
            del rest[0]
            while len(rest) > 1 and (rest[0].startswith("-") or _assignment().match(rest[0])):
                if rest[0] in _WRAPPER_VALUES.get(name, ()):
                    del rest[0]
                del rest[0]
        elif name in ("timeout", "gtimeout") and len(rest) > 2:
            del rest[0]
            while len(rest) > 1 and rest[0].startswith("-"):
                del rest[: 2 if rest[0] in ("-k", "-s") else 1]
            del rest[0]
        elif (name,) in _RUNNERS and len(rest) > 1:
            del rest[0]
            while len(rest) > 1 and rest[0].startswith("-"):
                del rest[0]
        elif len(rest) > 2 and (name, rest[1]) in _RUNNERS:
            del rest[:2]
            while len(rest) > 1 and rest[0].startswith("-"):
                del rest[: 2 if rest[0] in ("--with", "--python", "-p", "--group", "--extra") else 1]
        elif name in ("bash", "sh", "zsh") and len(rest) == 3 and rest[1] in ("-c", "-lc", "-ic"):
            inner = _lex(rest[2])
            return _bare(inner[-1].stages[0].words) if len(inner) == 1 else ("sh", rest[2])
        elif name == "." or not _python(name) or len(rest) < 3 or rest[1] != "-m":
            rest[0] = "python" if _python(name) else "pip" if name == "pip3" else name or head
            break
        else:
            del rest[:2]
    return tuple(rest)


def _python(name: str) -> bool:
    return name in ("python", "pypy3", "py") or (
        name.startswith("python") and name[6:].replace(".", "").isdigit()
    )


def _program(words: tuple[str, ...]) -> str:
    return next(iter(words), "")


def _subcommand(words: tuple[str, ...]) -> str:
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("-C", "-c", "--git-dir", "--work-tree", "--prefix", "--manifest-path", "-p"):
            skip = True
        elif not word.startswith("-"):
            return word
    return ""


def _looks(words: tuple[str, ...]) -> bool:
    program = _program(words)
    if not program or program in ("cd", "pushd", "popd", "set"):
        return True
    if program == "git":
        return _subcommand(words) in _GIT_LOOKS
    if program == "sed":
        return not any(word.startswith(_SED_IN_PLACE) for word in words)
    if program in _EDITORS:
        return "view" in words[1:2]
    if program == "find":
        return "-delete" not in words and all(
            _looks(_bare(words[at + 1 :]))
            for at, word in enumerate(words)
            if word in ("-exec", "-execdir", "-ok")
        )
    return program in _LOOKERS


def _edits(words: tuple[str, ...]) -> bool:
    program = _program(words)
    if program == "git":
        return _subcommand(words) in _GIT_EDITS
    if program in ("sed", "perl"):
        return any(word.startswith(_SED_IN_PLACE) or word.startswith("-pi") for word in words)
    if program == "find":
        return "-delete" in words
    return program in _EDITING or (program in _EDITORS and "view" not in words[1:2])


def _change(heads: list[tuple[tuple[str, ...], _Stage]]) -> Change:
    total = Change.NONE
    for words, stage in heads:
        total = changing.then(total, _stage_change(words, stage))
    return total


def _stage_change(words: tuple[str, ...], stage: _Stage) -> Change:
    program, subcommand = _program(words), _subcommand(words)
    if program == "git":
        if subcommand in ("checkout", "restore", "reset", "clean") and not {"-b", "-B", "--staged"} & {
            *words
        }:
            return Change.RESTORE
        if subcommand == "stash":
            verb = next((word for word in words[2:] if not word.startswith("-")), "push")
            return {
                "push": Change.RESTORE,
                "save": Change.RESTORE,
                "list": Change.NONE,
                "show": Change.NONE,
            }.get(verb, Change.EDIT)
        branching = subcommand in ("checkout", "switch") and {"-b", "-B", "-c", "-C"} & {*words}
        return Change.NONE if branching or _looks(words) else Change.EDIT
    if program == "sed" and _edits(words):
        return changing.of_sed(words[1:])
    if program == "apply_patch":
        return changing.of_patch(stage.given or " ".join(words[1:]))
    if any(not path.startswith(("/dev/", "&")) for path in stage.writes):
        return changing.of_script(stage.given, stage.writes[0]) if stage.given else _redirected(words)
    if _edits(words) or subcommand in ("install", "uninstall", "add", "remove", "upgrade"):
        return Change.EDIT
    code = stage.given or (" ".join(words[2:]) if words[1:2] in (("-c",), ("-e",)) else "")
    return changing.of_script(code) if code and _writes_files().search(code) else Change.NONE


def _redirected(words: tuple[str, ...]) -> Change:
    """What a redirected output does: text that was written by hand is an edit, a log of a run is none."""
    if _program(words) in ("echo", "printf"):
        return changing.of_lines(" ".join(words[1:]).splitlines())
    return Change.NONE


@cache
def _writes_files() -> re.Pattern[str]:
    return re.compile(r"""['"][wa]b?\+?['"]|write_text|writeFile|\.write\(|File\.write|unlink|rename\(""")


def _edited_file(heads: list[tuple[tuple[str, ...], _Stage]]) -> str:
    for words, stage in heads:
        if _program(words) == "apply_patch":
            return _path({}, stage.given.strip() or words[-1])
        if _edits(words) and _program(words) != "git":
            named = [word for word in words[1:] if not word.startswith("-")]
            if named:
                return named[0] if _program(words) in ("edit", "create", "insert") else named[-1]
    return ""


def _pause(heads: list[tuple[tuple[str, ...], _Stage]]) -> float:
    total = 0.0
    for words, _ in heads:
        if words[:1] == ("sleep",) and len(words) > 1:
            number, unit = words[1].rstrip("smhd"), words[1][-1:]
            if number.replace(".", "", 1).isdigit():
                total += float(number) * {"m": 60, "h": 3600, "d": 86400}.get(unit, 1)
    return total


def _main(pipelines: list[_Pipeline]) -> list[tuple[_Pipeline, tuple[_Stage, ...]]]:
    """The pipelines that do the work, each without its trailing filters: those that run something, or else all."""
    kept: list[tuple[_Pipeline, tuple[_Stage, ...]]] = []
    running: list[tuple[_Pipeline, tuple[_Stage, ...]]] = []
    for pipe in pipelines:
        stages = list(pipe.stages)
        while len(stages) > 1 and _program(_bare(stages[-1].words)) in _FILTERS:
            stages.pop()
        heads = [_bare(stage.words) for stage in stages]
        if all(_program(words) in _PRELUDE or not words for words in heads):
            continue
        kept.append((pipe, tuple(stages)))
        if not all(_looks(words) or _edits(words) for words in heads):
            running.append((pipe, tuple(stages)))
    return running or kept


def _key(pipelines: list[_Pipeline]) -> str:
    parts = [" | ".join(filter(None, map(_stage_key, stages))) for _, stages in _main(pipelines)]
    return " && ".join(filter(None, parts))


def _stage_key(stage: _Stage) -> str:
    words = _bare(stage.words)
    if _program(words) == "apply_patch":
        return f"apply_patch {_path({}, stage.given.strip() or words[-1])}"
    kept: list[str] = []
    skip = False
    said = _SAID if _program(words) in ("git", "gh", "hg", "jj", "svn") else frozenset[str]()
    for word in words:
        if skip:
            skip = False
        elif word in _TALK_PAIRS or word in said:
            skip = True
        elif word not in _TALK and not word.startswith(_TALK_VALUES):
            kept.append(word.removeprefix("./") or word)
    if stage.given:
        kept.append(stage.given)
    return " ".join(kept)


def _own_status(pipelines: list[_Pipeline]) -> bool:
    main = _main(pipelines)
    if not main:
        return True
    strict = any(
        stage.words[:1] == ("set",) and any(word.startswith("-") and "e" in word for word in stage.words[1:])
        for pipe in pipelines
        for stage in pipe.stages
    )
    safe = any("pipefail" in stage.words for pipe in pipelines for stage in pipe.stages)
    kept = {id(pipe): stages for pipe, stages in main}
    first = pipelines.index(main[0][0])
    for pipe in pipelines[first:]:
        filtered = len(kept.get(id(pipe), pipe.stages[:1])) < len(pipe.stages)
        if (filtered and not safe) or pipe.then in ("||", "&"):
            return False
        if any(next(iter(stage.words), "") == "!" for stage in pipe.stages):
            return False
    for pipe in pipelines[first:-1]:
        if pipe.then == ";" and not strict:
            return False
    return not any(
        word in _KEYWORDS for pipe in pipelines for stage in pipe.stages for word in stage.words[:1]
    )
