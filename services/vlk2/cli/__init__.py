"""The `vlk2` command. Each verb is a module of its own and is imported only when it is called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from vlk2 import __version__
from vlk2.errors import Vlk2Error

# verb -> (module, help line). The help line stands here so that `vlk2 --help` imports no verb.
VERBS: dict[str, tuple[str, str]] = {
    "serve": ("serve", "Speak MCP on stdio (or HTTP) for a coding agent."),
    "record": ("memory", "Record what a tool printed; a third repeat becomes a constraint."),
    "context": ("memory", "Show what an agent should know now."),
    "revoke": ("memory", "Withdraw a constraint learned from a misdiagnosis."),
    "pin": ("memory", "Protect an entry from budget, age and forgetting."),
    "unpin": ("memory", "Take a pin away."),
    "recall": ("memory", "Search what was archived, and the team's facts."),
    "forget": ("memory", "Forget an entry and erase its text."),
    "time-travel": ("memory", "Declare a dead end: archive entries, keep the lesson."),
    "timeline": ("timeline", "List entries by state, or show one whole."),
    "status": ("status", "Show the memory in figures."),
    "consolidate": ("status", "Run the cycle once, now."),
    "explain": ("life", "Tell the whole story of an entry, a constraint or a fact."),
    "show-fix": ("life", "Show what had changed when a loop ended."),
    "restore": ("life", "Bring back what the cycle forgot, within 14 days."),
    "erase": ("life", "Erase for good, in every holder."),
    "db": ("db", "Make, upgrade and check the store; carry it elsewhere."),
    "fingerprint": ("fingerprint", "Tell which failure a text is."),
    "install": ("install", "Add hooks and MCP server to coding agents."),
    "uninstall": ("install", "Take hooks and MCP server out of coding agents again."),
    "doctor": ("doctor", "Check that it works, and say what to do where it does not."),
    "report": ("report", "Tell what was said or would have been, and where it was wrong."),
    "run": ("run", "Run a command and record how it went, for shells, CI and agents without hooks."),
    "pause": ("pause", "Record and say nothing for a while."),
    "resume": ("pause", "End a pause."),
    "patterns": ("patterns", "What the team learned: list, explain, revoke, pin."),
    "join": ("join", "Use a team server from now on."),
    "leave": ("join", "Go back to this machine's own store."),
    "sync": ("join", "Hand in what waits in the spool."),
    "team": ("team", "Make teams and list them."),
    "agent": ("team", "Add agents to a team, list them, lock them out."),
    "token": ("team", "Create, list, rotate and revoke tokens."),
    "audit": ("team", "Show what was done and what was refused."),
    "trust": ("trust", "Let a project's vlk2.toml set its threshold, rows and exclusions."),
    "replay": ("replay", "Find the loops in recorded sessions."),
}


class _Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"vlk2.cli.{VERBS[cmd_name][0]}")
        command = getattr(module, cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vlk2")
def vlk2() -> None:
    """Vlk²: the memory of what did not work, for coding agents and their teams."""


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point: an error of ours is one clear line on stderr and exit code 1 (2 for wrong usage)."""
    try:
        vlk2.main(args=arguments, prog_name="vlk2", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(130)
    except Vlk2Error as error:
        click.echo(f"vlk2: {error.message}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
