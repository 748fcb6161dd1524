"""Rule 8 and rule 2's list: what a call is, which command it is, whose status it reports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlk2.domain.command import answers_by_exit, parse, parse_action
from vlk2.domain.observation import Act, Change


@pytest.mark.parametrize(
    "spelling",
    [
        "pytest tests/cart",
        "cd /srv/shop && pytest tests/cart",
        "pytest tests/cart -v",
        "pytest -q tests/cart --tb=short",
        "python -m pytest tests/cart",
        "python3.12 -m pytest tests/cart 2>&1 | tail -20",
        "CI=1 PYTHONPATH=src pytest tests/cart",
        "env CI=1 pytest tests/cart",
        "timeout 60 pytest tests/cart",
        "uv run pytest tests/cart > out.txt 2>&1",
        "poetry run pytest tests/cart || true",
        "pytest tests/cart | grep -E 'FAILED|passed' | head -5",
        "export CI=1; pytest tests/cart",
        "bash -lc 'pytest tests/cart'",
        "set -o pipefail && pytest tests/cart | tee log",
        "sed -i 's/a/b/' src/cart.py && pytest tests/cart",
    ],
)
def test_a_command_is_the_same_however_it_is_wrapped(spelling: str):
    assert parse("Bash", spelling).key == "pytest tests/cart"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pytest tests", "pytest tests/cart"),
        ("pytest", "pytest -k tax"),
        ("pytest", "pytest -x"),
        ("cargo build", "cargo test"),
        ("npm test", "npm run lint"),
        ("python a.py", "python b.py"),
        ("make", "make && make install"),
        ("python -c 'import a'", "python -c 'import b'"),
        ("git diff", "git diff --exit-code"),
    ],
)
def test_another_subcommand_target_or_a_narrower_run_is_another_command(one: str, other: str):
    assert parse("Bash", one).key != parse("Bash", other).key


def test_what_a_commit_says_of_itself_is_no_target():
    one = parse("Bash", "git add -A && git commit -m 'feat: add carts'")
    other = parse("Bash", 'git commit -m "fix: carts, again"')
    assert one.key == other.key == "git commit"


def test_an_empty_command_has_no_key():
    assert parse("Bash", "").key == ""
    assert parse("Bash", "   \n ").key == ""
    assert parse("Edit", "").key == ""
    assert parse("Bash", "cd src").key == ""


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("pytest", True),
        ("cd src && pytest", True),
        ("cd src; pytest", True),
        ("pytest > log 2>&1", True),
        ("npm ci && npm test", True),
        ("cat > t.py <<'EOF'\nprint('a; b | c')\nEOF\npython t.py", True),
        ("set -e\nmake\nmake test", True),
        ("set -o pipefail; pytest | tail", True),
        ("echo 'select 1' | sqlite3 shop.db", True),
        ("echo 'select 1' | sqlite3 shop.db | head -5", False),
        ("pytest | tail -5", False),
        ("pytest || true", False),
        ("pytest || echo failed", False),
        ("pytest &", False),
        ("pytest; echo done", False),
        ("pytest\necho $?", False),
        ("! pytest", False),
        ("if pytest; then echo ok; fi", False),
        ("for t in a b; do pytest $t; done", False),
    ],
)
def test_a_status_is_the_commands_own_unless_something_stands_behind_it(line: str, own: bool):
    assert parse("Bash", line).own_status is own


@pytest.mark.parametrize(
    ("tool", "command", "act"),
    [
        ("Bash", "pytest", Act.RUN),
        ("shell", "cargo build", Act.RUN),
        ("run_shell_command", "npm test", Act.RUN),
        ("terminal", "go vet ./...", Act.RUN),
        ("execute_bash", "ls -la && cat a.txt", Act.READ),
        ("exec_command", "rg -n load src | head", Act.READ),
        ("Bash", "git log --oneline -5", Act.READ),
        ("Bash", "find . -name '*.py' -exec grep -l load {} \\;", Act.READ),
        ("Bash", "find . -name '*.py' | xargs -n 1 grep -l load", Act.READ),
        ("Bash", "find . -name '*.pyc' -exec rm {} \\;", Act.RUN),
        ("Bash", "sed -n '1,40p' a.py", Act.READ),
        ("Bash", "sed -i 's/x/y/' a.py", Act.EDIT),
        ("Bash", "cat > a.py <<'EOF'\nx = 1\nEOF", Act.EDIT),
        ("Bash", "echo x | tee a.txt", Act.EDIT),
        ("Bash", "git checkout -- a.py", Act.EDIT),
        ("Bash", "cat > t.py <<'EOF'\nx = 1\nEOF\npython t.py", Act.RUN),
        ("shell", "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch", Act.EDIT),
        ("shell", "apply_patch <<'P'\n*** Begin Patch\n*** Update File: src/a.py\nP", Act.EDIT),
        ("Edit", "src/a.py", Act.EDIT),
        ("Write", '{"file_path": "src/a.py", "content": "x"}', Act.EDIT),
        ("replace", "src/a.py", Act.EDIT),
        ("patch", "src/a.py", Act.EDIT),
        ("Read", "src/a.py", Act.READ),
        ("Grep", '{"pattern": "x"}', Act.READ),
        ("read_file", "src/a.py", Act.READ),
        ("str_replace_editor", '{"command": "view", "path": "/a.py"}', Act.READ),
        ("str_replace_editor", '{"path": "/a.py", "old_str": "x", "new_str": "y"}', Act.EDIT),
        ("", "edit 12:14\nx = 1\nend_of_edit", Act.EDIT),
        ("", "open src/a.py 40", Act.READ),
        ("mcp__tracker__create_issue", '{"title": "x"}', Act.OTHER),
        ("TodoWrite", '{"todos": []}', Act.OTHER),
    ],
)
def test_every_client_names_its_tools_in_its_own_way(tool: str, command: str, act: Act):
    assert parse(tool, command).act is act


@pytest.mark.parametrize(
    ("tool", "command", "place"),
    [
        ("Edit", '{"file_path": "/srv/a.py", "old_string": "x"}', "/srv/a.py"),
        (
            "Edit",
            '{"replace_all": false, "file_path": "/srv/a.py", "old_string": "cut in the mid',
            "/srv/a.py",
        ),
        ("write", "src/b.ts", "src/b.ts"),
        ("shell", "*** Begin Patch\n*** Update File: src/a.py\n@@", "src/a.py"),
        ("Bash", "cat <<'EOF' > src/c.py\nx\nEOF", "src/c.py"),
        ("Bash", "sed -i 's/x/y/' src/d.py", "src/d.py"),
        ("Bash", "pytest > /dev/null", ""),
    ],
)
def test_the_file_that_a_call_names_is_found(tool: str, command: str, place: str):
    assert parse(tool, command).place == place


@pytest.mark.parametrize(
    "action",
    [
        "Bash: grep -rn load src",
        "Bash: cd src && rg load",
        "Bash: diff a b",
        "Bash: cmp a b",
        "Bash: test -f a",
        "Bash: [ -d src ]",
        "Bash: git diff --exit-code",
        "Bash: git grep load",
        "shell: which node",
        "bash: command -v node",
        "Grep: load src",
    ],
)
def test_exit_1_of_a_command_that_answers_by_it_is_an_answer(action: str):
    assert answers_by_exit(action)


@pytest.mark.parametrize(
    "action",
    ["Bash: pytest", "Bash: grep x a && make", "Bash: git commit -m x", "Bash: make | cat", "Edit: a.py"],
)
def test_exit_1_of_any_other_command_is_no_answer(action: str):
    assert not answers_by_exit(action)


@pytest.mark.parametrize(
    ("line", "change"),
    [
        ("pytest", Change.NONE),
        ("cat a.py", Change.NONE),
        ("pytest > log.txt", Change.NONE),
        ("git stash list", Change.NONE),
        ("git checkout -b topic", Change.NONE),
        ("git add -A && git commit -m x", Change.EDIT),
        ("git checkout src/a.py", Change.RESTORE),
        ("git stash", Change.RESTORE),
        ("git stash pop", Change.EDIT),
        ("git checkout src/a.py && sed -i 's/x/y/' src/a.py", Change.EDIT),
        ("sed -i '12i\\    print(f\"DEBUG: {x}\")' src/a.py", Change.PROBE),
        ("sed -i '/DEBUG/d' src/a.py", Change.PROBE),
        ("sed -i '12d' src/a.py", Change.EDIT),
        (
            "cat > debug_cart.py <<'EOF'\nimport cart\nprint(cart.total())\nEOF\npython debug_cart.py",
            Change.PROBE,
        ),
        ("cat > test_cart.py <<'EOF'\nimport cart\nassert cart.total() == 3\nEOF", Change.EDIT),
        ("pip install numpy", Change.EDIT),
        ("python - <<'EOF'\nopen('a.py', 'w').write('x = 1')\nEOF", Change.EDIT),
        ("python - <<'EOF'\nimport a\nprint(a.x)\nEOF", Change.NONE),
    ],
)
def test_what_a_shell_line_changes_is_told_from_its_text(line: str, change: Change):
    assert parse("Bash", line).change is change


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("x = 1\\n", "x = 1\\nprint('x is', x)\\n", Change.PROBE),
        ("x = 1\\nprint('x is', x)\\n", "x = 1\\n", Change.PROBE),
        ("return a", "console.log(a);\\nreturn a", Change.PROBE),
        ("print('total')", "print('sum')", Change.EDIT),
        ("x = 1", "x = 2", Change.EDIT),
        ("x = 1", "print(x)\\nx = 2", Change.EDIT),
    ],
)
def test_an_edit_that_only_adds_or_removes_output_is_a_probe(old: str, new: str, change: Change):
    arguments = f'{{"file_path": "a.py", "old_string": "{old}", "new_string": "{new}"}}'
    assert parse("Edit", arguments).change is change
    assert parse("Edit", "a.py", arguments).change is change


def test_a_program_is_asked_where_a_literal_text_is_piped_into_it():
    assert parse("Bash", "cd src && echo 'select 1' | sqlcheck - 2>&1").asks
    assert not parse("Bash", "cat query.sql | sqlcheck -").asks
    assert not parse("Bash", "echo start && make").asks


def test_a_pause_is_counted_in_seconds():
    assert parse("Bash", "sleep 30 && gh run view 7").pause == 30
    assert parse("Bash", "sleep 2m; curl -sf localhost").pause == 120
    assert parse("Bash", "gh run view 7").pause == 0


def test_the_neutral_form_names_its_tool_before_the_colon():
    assert parse_action("Bash: npm test").key == "npm test"
    assert parse_action("Read: a.js").act is Act.READ
    assert parse_action("npm test").key == "npm test"
    assert parse_action("vlk_fetch_context").act is Act.OTHER
    assert parse_action("").key == ""


@given(st.text(max_size=300), st.sampled_from(["Bash", "Edit", "str_replace_editor", "", "x"]))
def test_no_text_is_too_strange_to_be_taken_apart(text: str, tool: str):
    taken = parse(tool, text)
    assert parse(tool, text) == taken
    answers_by_exit(text)


@given(st.text(alphabet="ab |&;<>'\"\\$(){}\n#EOF", max_size=200))
def test_broken_shell_syntax_is_taken_apart_without_error(text: str):
    assert parse("Bash", text).own_status in (True, False)
