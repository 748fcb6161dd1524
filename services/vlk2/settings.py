"""The one settings class: `VLK2_*` environment over the user file over defaults."""

from __future__ import annotations

import os
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from vlk2.errors import ConfigError
from vlk2.userfile import config_path, default_agent, default_store, read_user_file

STORE_SCHEMES = (
    "sqlite:///",
    "postgresql://",
    "postgres://",
    "https://",
    "http://127.0.0.1",
    "http://localhost",
)


class Settings(BaseSettings):
    """Every setting of Vlk², validated. Build it with `load`, which names the source of what is wrong."""

    model_config = SettingsConfigDict(env_prefix="VLK2_", extra="ignore", env_ignore_empty=True)

    store: str = Field(default_factory=lambda: default_store(os.environ))
    team: str = Field(default="default", min_length=1, max_length=100)
    agent: str = Field(default_factory=lambda: default_agent(os.environ), min_length=1, max_length=100)
    project: str = Field(default="", max_length=400)
    broker: str = ""
    token_budget: int = Field(default=8_000, ge=500, le=200_000)
    loop_threshold: int = Field(default=3, ge=2, le=24)
    cycle_seconds: float = Field(default=30.0, ge=0.2, le=86_400)
    cycle_most: int = Field(default=1_000, ge=1, le=100_000)
    lease_seconds: float = Field(default=150.0, ge=5.0, le=86_400)
    shards: int = Field(default=1, ge=1, le=256)
    enforce: Literal["refuse", "advise", "off"] = "refuse"
    auth: Literal["none", "tokens", "jwt"] = "none"
    share: Literal["full", "facts", "none"] = "full"
    share_projects: dict[str, Literal["full", "facts", "none"]] = Field(default_factory=dict)
    allowed_hosts: str = ""
    allowed_origins: str = ""
    trusted_proxies: str = "127.0.0.1"
    http_rate: int = Field(default=200, ge=1, le=1_000_000)
    http_body_limit: int = Field(default=4 * 1024 * 1024, ge=1_024, le=64 * 1024 * 1024)
    jwt_jwks_uri: str = ""
    jwt_public_key: str = ""
    jwt_issuer: str = ""
    jwt_audience: str = ""
    jwt_algorithm: str = "RS256"
    jwt_team_claim: str = ""
    jwt_agent_claim: str = "sub"
    jwt_admin_scope: str = "vlk2:admin"

    @field_validator("store")
    @classmethod
    def _known_scheme(cls, value: str) -> str:
        if not value.startswith(STORE_SCHEMES):
            raise ValueError("must be sqlite:///ABSOLUTE_PATH, postgresql://… or https://… for a team server")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _UserFile(settings_cls)


class _UserFile(PydanticBaseSettingsSource):
    """The user file as a source of settings."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return read_user_file(config_path(os.environ)).get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        held = read_user_file(config_path(os.environ))
        return {name: value for name, value in held.items() if value not in ("", None)}


def load(**overrides: Any) -> Settings:
    """The settings of this process. ConfigError names the variable or the file of every wrong value."""
    try:
        return Settings(**overrides)
    except ValidationError as error:
        lines = [_complaint(problem) for problem in error.errors()]
        raise ConfigError("; ".join(lines)) from error


def _complaint(problem: Any) -> str:
    name = str(problem["loc"][0]) if problem["loc"] else "settings"
    variable = f"VLK2_{name.upper()}"
    source = variable if os.environ.get(variable) else f"{name} in {config_path(os.environ)}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{source} is {problem['input']!r}: {message[:1].lower()}{message[1:]}"
