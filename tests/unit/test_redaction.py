"""Claims about masking: every secret leaves the text, everything else stays, and masking twice changes nothing.

No secret stands in this file: each is put together at run time from a prefix and letters drawn by a seeded
generator, so that no scanner of the repository takes one for real.
"""

from __future__ import annotations

import random
import string
from base64 import b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlk2.redaction import mask

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
BASE64 = ALNUM + "+/"
WORD = ALNUM + "_-"
MEBI = 1 << 20


def drawn(count: int, alphabet: str = ALNUM) -> str:
    """`count` letters of `alphabet`, always the same for the same arguments, with a digit among them."""
    letters = random.Random(f"{count}{alphabet}").choices(alphabet, k=count)
    if "7" in alphabet:
        letters[count // 2] = "7"
    return "".join(letters)


TOKENS = {
    "our own": "vlk2" + "_" + drawn(43, WORD),
    "github classic": "ghp" + "_" + drawn(36),
    "github oauth": "gho" + "_" + drawn(36),
    "github user": "ghu" + "_" + drawn(36),
    "github server": "ghs" + "_" + drawn(36),
    "github refresh": "ghr" + "_" + drawn(36),
    "github fine-grained": "github" + "_pat_" + drawn(82),
    "gitlab personal": "glpat" + "-" + drawn(20, WORD),
    "gitlab deploy": "gldt" + "-" + drawn(20),
    "gitlab runner": "glrt" + "-" + drawn(20),
    "gitlab trigger": "glptt" + "-" + drawn(40, HEX),
    "gitlab runner registration": "GR1348" + "941" + drawn(20),
    "npm": "npm" + "_" + drawn(36),
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + drawn(80, WORD),
    "rubygems": "rubygems" + "_" + drawn(48, HEX),
    "docker": "dckr" + "_pat_" + drawn(27, WORD),
    "atlassian": "ATA" + "TT3" + drawn(186, WORD),
    "aws access key": "AK" + "IA" + drawn(16, UPPER),
    "aws session key": "AS" + "IA" + drawn(16, UPPER),
    "google api": "AI" + "za" + drawn(35, WORD),
    "google oauth secret": "GOC" + "SPX-" + drawn(28, WORD),
    "google access": "ya" + "29." + drawn(60, WORD),
    "azure client secret": drawn(3) + "8Q" + "~" + drawn(34),
    "digitalocean": "dop" + "_v1_" + drawn(64, HEX),
    "heroku": "HRKU" + "-AA" + drawn(58, WORD),
    "databricks": "da" + "pi" + drawn(32, HEX),
    "vault": "hvs" + "." + drawn(90, WORD),
    "terraform": drawn(14) + ".atlas" + "v1." + drawn(64, WORD),
    "doppler": "dp" + ".pt." + drawn(43),
    "grafana service account": "glsa" + "_" + drawn(32) + "_" + drawn(8, HEX),
    "dynatrace": "dt0" + "c01." + drawn(24) + "." + drawn(64),
    "sentry": "sntryu" + "_" + drawn(64, HEX),
    "newrelic": "NR" + "AK-" + drawn(27, UPPER),
    "anthropic": "sk" + "-ant-api03-" + drawn(93, WORD) + "AA",
    "openai": "sk" + "-" + drawn(20) + "T3Blbk" + "FJ" + drawn(20),
    "openai project": "sk" + "-proj-" + drawn(74, WORD) + "T3Blbk" + "FJ" + drawn(74, WORD),
    "hugging face": "hf" + "_" + drawn(34, string.ascii_letters),
    "groq": "gsk" + "_" + drawn(52),
    "replicate": "r8" + "_" + drawn(37),
    "perplexity": "pplx" + "-" + drawn(48),
    "slack bot": "xo" + "xb-123456789012-123456789012-" + drawn(24),
    "slack user": "xo" + "xp-123456789012-123456789012-123456789012-" + drawn(32),
    "slack app": "xa" + "pp-1-A0123456789-1234567890123-" + drawn(64, HEX),
    "slack webhook": "https://hooks.slack" + ".com/services/T" + drawn(8, UPPER) + "/B" + drawn(8, UPPER) + "/" + drawn(24),
    "discord webhook": "https://discord.com/api/web" + "hooks/123456789012345678/" + drawn(68, WORD),
    "discord bot": "M" + drawn(23) + "." + drawn(6) + "." + drawn(27, WORD),
    "telegram": "1234567890" + ":AA" + drawn(33, WORD),
    "stripe": "sk" + "_live_" + drawn(24),
    "stripe restricted": "rk" + "_live_" + drawn(24),
    "square": "sq0" + "csp-" + drawn(43, WORD),
    "shopify": "shp" + "at_" + drawn(32, HEX),
    "sendgrid": "SG" + "." + drawn(22, WORD) + "." + drawn(43, WORD),
    "mailchimp": drawn(32, HEX) + "-us" + "12",
    "brevo": "xkeys" + "ib-" + drawn(64, HEX) + "-" + drawn(16),
    "twilio": "S" + "K" + drawn(32, HEX),
    "linear": "lin" + "_api_" + drawn(40),
    "notion": "ntn" + "_" + "12345678901" + drawn(35),
    "figma": "figd" + "_" + drawn(40, WORD),
    "postman": "PMA" + "K-" + drawn(24, HEX) + "-" + drawn(34, HEX),
    "planetscale": "pscale" + "_tkn_" + drawn(43, WORD),
    "artifactory": "AKC" + "p" + drawn(69),
    "age": "AGE-SECRET" + "-KEY-1" + drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "1password": "A3" + "-ABC7EF-" + drawn(6, UPPER) + "-" + drawn(5, UPPER) + "-" + drawn(5, UPPER) + "-" + drawn(5, UPPER),
    "json web token": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + drawn(43, WORD),
    "bcrypt hash": "$2" + "b$12$" + drawn(53, "./" + ALNUM),
}  # fmt: skip

SETTINGS = (
    "{}",
    'value="{}"',
    "x: {}\n",
    "got {}, expected y",
    "https://host/?k={}&z=1",
    "\\n{}\\n",
    "({})",
    "\x1b[31m{}\x1b[0m",
)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", TOKENS)
def test_a_token_of_known_shape_is_masked_wherever_it_stands(name: str, setting: str) -> None:
    before, _, after = setting.partition("{}")
    masked = mask(before + TOKENS[name] + after)
    assert TOKENS[name][-12:] not in masked
    assert "[masked:" in masked
    assert masked.startswith(before)
    assert masked.endswith(after)


def test_the_mask_names_the_kind_and_keeps_the_rest_byte_for_byte() -> None:
    token = TOKENS["github classic"]
    assert (
        mask(f"café\r\n\tclone failed for {token}\x00 — retry")
        == "café\r\n\tclone failed for [masked:github-token]\x00 — retry"
    )


@pytest.mark.parametrize(
    "name", ["github classic", "gitlab personal", "anthropic", "slack bot", "json web token", "pypi"]
)
def test_a_token_whose_tail_was_cut_away_is_masked(name: str) -> None:
    kept = TOKENS[name][: max(24, len(TOKENS[name]) * 2 // 3)]
    assert kept[-10:] not in mask(f"log {kept}")


PASSWORD = "hunt" + "er2"
SECRET = drawn(32)

NAMED = [
    ("export DB_PASSWORD={}", PASSWORD),
    ("DB_PASSWORD={}\nDB_HOST=localhost", PASSWORD),
    ("MAIL_PASSWORD='{}'", PASSWORD),
    ("SECRET_KEY={}", SECRET),
    ("JWT_SECRET={}", SECRET),
    ("APP_KEY=base64:{}", SECRET),
    ("API_TOKEN={} make deploy", SECRET),
    ("PGPASSWORD={} psql -h db", PASSWORD),
    ("PASSWORD={}", "secret"),
    ("spring.datasource.password={}", "letmein"),
    ('{{"auth": "{}"}}', b64encode(b"bob:" + PASSWORD.encode()).decode()),
    ('{{"name": "API_TOKEN", "value": "{}"}}', SECRET),
    ('{{"password": "{}"}}', "secret"),
    ("AWS_SECRET_ACCESS_KEY={}", drawn(40, BASE64)),
    ("aws_secret_access_key = {}", drawn(40, BASE64)),
    ('{{"password": "{}"}}', PASSWORD),
    ('{{"user": "a", "token": "{}", "n": 1}}', SECRET),
    ('{{"secret":"{}"}}', SECRET),
    ('{{"api_key": "{}"}}', SECRET),
    ('{{"apiKey": "{}"}}', SECRET),
    ('{{"access_token": "{}", "token_type": "bearer"}}', SECRET),
    ('{{"clientSecret": "{}"}}', SECRET),
    ('"{{\\"password\\": \\"{}\\"}}"', PASSWORD),
    ("{{'password': '{}', 'user': 'bob'}}", PASSWORD),
    ("password: {}", PASSWORD),
    ("db:\n  user: app\n  password: {}\n", PASSWORD),
    ("- name: DB_PASSWORD\n  value: {}", PASSWORD),
    ('<password>{}</password>', PASSWORD),
    ('<add key="Password" value="{}"/>', PASSWORD),
    ("os.environ['API_TOKEN'] = '{}'", SECRET),
    ("connect(host='h', password='{}')", PASSWORD),
    ("('password', '{}')", PASSWORD),
    ("ALTER USER app WITH PASSWORD '{}'", PASSWORD),
    ("//registry.example/:_authToken={}", SECRET),
    ("machine example.org login bob password {}", PASSWORD),
    ("X-Api-Key: {}", SECRET),
    ("Authorization: Bearer {}", SECRET),
    ("authorization: Basic {}", b64encode(b"bob:" + PASSWORD.encode()).decode()),
    ("curl -H 'Authorization: token {}' https://host/", SECRET),
    ("headers={{'Authorization': 'Bearer {}'}}", SECRET),
    ("sent Basic {} to host", b64encode(b"bob:" + PASSWORD.encode()).decode()),
    ("got Bearer {} here", SECRET),
    ("Cookie: session={}; theme=dark", SECRET),
    ("Set-Cookie: sid={}; Path=/; HttpOnly", SECRET),
    ("-H 'Cookie: a={}'", SECRET),
    ("postgres://app:{}@db:5432/x", PASSWORD),
    ("redis://:{}@cache:6379/0", PASSWORD),
    ("mongodb+srv://u:{}@cluster0.example.net/db", PASSWORD),
    ("amqp://guest:{}@mq//", PASSWORD),
    ("https://{}@github.com/x/y.git", SECRET),
    ("app:{}@tcp(db:3306)/x", PASSWORD),
    ("Server=h;Database=d;User Id=sa;Password={};Encrypt=yes", "P@ss" + "w0rd!"),
    ("AccountName=x;AccountKey={}==;EndpointSuffix=core", drawn(86, BASE64)),
    ("host=db user=app password={} dbname=x", "sesame" + "open"),
    ("jdbc:postgresql://h/db?user=x&password={}", "sesame" + "open"),
    ("GET /x?access_token={}&page=1", "abc" + "def1"),
    ("X-Amz-Signature={}", drawn(64, HEX)),
    ("tool --password {} --verbose", PASSWORD),
    ("tool --password={}", PASSWORD),
    ('tool --password "{}"', "open the " + "gate"),
    ("tool --token {}", SECRET),
    ('["tool", "--api-key", "{}"]', SECRET),
    ("mysql -u root -p{} db", "SEC" + "RET"),
    ('mysqldump -h h -p"{}" db', "SEC " + "RET"),
    ("curl -u bob:{} https://host/", PASSWORD),
    ("sshpass -p {} ssh h", PASSWORD),
    ("docker login -u bob -p {} registry.example", PASSWORD),
    ("redis-cli -h h -a {} ping", PASSWORD),
]  # fmt: skip


@pytest.mark.parametrize(("template", "secret"), NAMED)
def test_the_value_of_what_is_named_a_secret_is_masked(template: str, secret: str) -> None:
    before, _, after = template.partition("{}")
    before, after = before.replace("{{", "{").replace("}}", "}"), after.replace("{{", "{").replace("}}", "}")
    masked = mask(before + secret + after)
    assert secret not in masked
    assert "[masked:" in masked
    assert mask(masked) == masked


NOT_SECRETS = [
    "SyntaxError: Unexpected token ;",
    "SyntaxError: Unexpected token '}', \"{\"a\":}\" is not valid JSON",
    "bash: syntax error near unexpected token `done'",
    "TOKEN_BUDGET=8000",
    "max_tokens=4096 tokens: 1234",
    "password must not be empty",
    "Password: must be at least 8 characters",
    "Password: This field is required.",
    '{"password": ["This field is required."]}',
    '{"password": "This field is required."}',
    "KeyError: 'api_key'",
    "KeyError: 'password'",
    "TypeError: argument 'token': 'NoneType' object cannot be converted to 'PyString'",
    "TypeError: login() got an unexpected keyword argument 'password'",
    "AttributeError: 'NoneType' object has no attribute 'token'",
    "error: missing field `secret` at line 3 column 1",
    "error[E0277]: the trait bound `Token: Display` is not satisfied",
    "use of undeclared identifier 'token'",
    "TS2339: Property 'token' does not exist on type '{ password: string; }'.",
    "    token = get_token(request)",
    "    password=password,",
    "    connect(user=user, password=self.password)",
    "const token = req.headers.authorization;",
    "let token = lexer.next_token();",
    "if token == TokenKind.EOF:",
    'api_key=os.environ["API_KEY"]',
    "password: str = Field(min_length=8)",
    "fn login(token: &str, secret: String)",
    "PASSWORD=$DB_PASSWORD TOKEN=${CI_TOKEN:-none} KEY={{ api_key }}",
    "usage: tool [--token TOKEN] --password PASSWORD | --password <password>",
    "error: the following arguments are required: --token, --url",
    "error: argument --token: expected one argument",
    "--password is required",
    "PASSWORD_FILE=/run/secrets/db",
    "token: invalid",
    "auth: httpx2.Auth | None = None",
    "authorization: DeviceAuthorization,",
    "+-com.google.auth:google-auth-library-oauth2-http:0.7.0",
    "docker run -d mysql -p3306:3306, then wait",
    'headers["Authorization"] = f"Bearer {self.token.get_secret_value()}"',
    'headers["Authorization"] = self._create_basic_auth_header()',
    "[:policies, :authorization, :domain_1_of_many]",
    'credentials = f"{self.client_id}:{self.client_secret}"',
    "redis://[[username]:[password]]@localhost:6379/0",
    "DEDUP_TOKEN: b67dcd8309cda924 pad_token='<pad1>' next_token=abc123def4567 eos_token: \"end_of_text_1\"",
    "Token: expired",
    "password authentication failed for user \"app\"",
    "Authorization: required",
    "Authorization header missing",
    "Basic authentication failed",
    "Bearer token missing",
    "cookie: not found",
    "could not read -----BEGIN PRIVATE KEY----- from file",
    "expected -----BEGIN PRIVATE KEY----- before -----END PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + "\n".join([drawn(64, BASE64)] * 3) + "\n-----END CERTIFICATE-----",
    "commit " + drawn(40, HEX),
    "550e8400-e29b-41d4-a716-446655440000",
    '"integrity": "sha512-' + drawn(86, BASE64) + '=="',
    'hash = "sha256:' + drawn(64, HEX) + '"',
    "image@sha256:" + drawn(64, HEX),
    "cache key: linux-node-" + drawn(64, HEX),
    "panicked at 0x7ffd4c3a2b10: Segmentation fault (core dumped) ffffffff81a00190",
    "primary_key=id foreign key: users.id public_key: " + drawn(18),
    "docker run -u 1000:1000 -p 3306:3306 --name mysql mysql -p3306:3306",
    "http://localhost:4873/@types/node ssh://git@github.com/x/y.git git@github.com:x/y.git postgres://user@host/db",
    "src/auth/token.py:12:5: E501 line too long",
    "FAILED tests/test_auth.py::test_password - AssertionError: assert 'a' == 'b'",
    "# pass 10, pass: 5, 12 passed",
    "secretName: db-creds-2, kubectl create secret generic db-creds-2",
    "Key (token)=(abc) already exists.",
    "prf_hmac_sha256_context phc_format_2_string vcp_some_name_of_an_identifier_1",
    "error TS6133: 'token' is declared but its value is never read.",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_SECRETS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text) == text


BODY = "\n".join(drawn(64, BASE64[n:] + BASE64[:n]) for n in range(12)) + "\n" + drawn(26) + "=="
LABELS = ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "]


def armor(label: str, body: str, separator: str = "\n") -> str:
    return (
        f"-----BEGIN {label}PRIV"
        + f"ATE KEY-----{separator}{body}{separator}-----END {label}PRIV"
        + "ATE KEY-----"
    )


def leaked(text: str) -> list[str]:
    return [line for line in BODY.split("\n") if line in text]


@pytest.mark.parametrize("label", LABELS)
def test_a_private_key_is_masked_whole(label: str) -> None:
    assert mask(f"before\n{armor(label, BODY)}\nafter") == "before\n[masked:private-key]\nafter"


@pytest.mark.parametrize("escape", ["\\n", "\\\\n", "\r\n", " "])
def test_a_private_key_on_one_line_is_masked(escape: str) -> None:
    text = '{"private_key": "' + armor("", BODY.replace("\n", escape), escape) + '", "id": 1}'
    assert mask(text) == '{"private_key": "[masked:private-key]", "id": 1}'


@pytest.mark.parametrize("prefix", ["  ", "> ", "web_1  | ", "2026-01-01T00:00:00.000Z "])
def test_a_private_key_behind_line_prefixes_is_masked(prefix: str) -> None:
    text = "\n".join(prefix + line for line in armor("EC ", BODY).split("\n"))
    assert not leaked(mask(text + "\nafter"))
    assert mask(text + "\nafter").endswith("\nafter")


def test_a_pgp_key_with_headers_and_checksum_is_masked() -> None:
    text = (
        "-----BEGIN PGP PRIV"
        + f"ATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{BODY}\n=AbCd\n-----END PGP PRIV"
        + "ATE KEY BLOCK-----"
    )
    assert mask(f"a\n{text}\nb") == "a\n[masked:private-key]\nb"


def test_an_encrypted_key_with_headers_is_masked() -> None:
    headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC," + drawn(32, HEX.upper()) + "\n\n"
    assert mask(armor("RSA ", headers + BODY)) == "[masked:private-key]"


def test_a_putty_key_is_masked() -> None:
    assert not leaked(mask(f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 13\n{BODY}\nPrivate-MAC: x"))


@pytest.mark.parametrize("kept", [120, 400, 700])
def test_a_private_key_whose_tail_was_cut_away_is_masked(kept: int) -> None:
    cut = armor("RSA ", BODY)[:kept]
    masked = mask(f"{cut}\n[... 70000 bytes left out ...]\nerror: build failed\n")
    assert not leaked(masked)
    assert masked.endswith("\n[... 70000 bytes left out ...]\nerror: build failed\n")


@pytest.mark.parametrize("lost", [60, 300, 500])
def test_a_private_key_whose_head_was_cut_away_is_masked(lost: int) -> None:
    cut = armor("RSA ", BODY)[lost:]
    masked = mask(f"error: build failed\n[... 70000 bytes left out ...]\n{cut}\nafter")
    assert not leaked(masked)
    assert cut.split("\n", 1)[0][-16:] not in masked
    assert masked.startswith("error: build failed\n[... 70000 bytes left out ...]\n")
    assert masked.endswith("\nafter")


FRAGMENTS = st.sampled_from(
    [
        "password", "token", "secret", "api_key", "KEY", "PASSWORD", "=", ": ", '"', "'", "\\", "\\n", "\n", " ", ",", ";", "&", "[", "]", "{", "}",
        "(", ")", "<", ">", "--", "-p", "mysql ", "curl -u ", "://", "@", "/", "Bearer ", "Basic ", "Authorization: ", "Cookie: ", "value=",
        "eyJ", "ghp_", "sk-", "xoxb-", "AKIA", "[masked:token]", "[masked:", "abc123", "a1B2c3D4e5F6g7H8i9J0", drawn(40), "İ", "é", "\x1b[31m", "%20",
        "-----BEGIN RSA PRIV" + "ATE KEY-----", "-----END RSA PRIV" + "ATE KEY-----", drawn(64, BASE64), "$", "*", "x",
    ]
)  # fmt: skip


@settings(max_examples=600)
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    masked = mask(text)
    assert mask(masked) == masked


@given(st.text(st.characters()))
def test_any_text_is_masked_without_error_and_once(text: str) -> None:
    masked = mask(text)
    assert mask(masked) == masked


@given(st.text(st.sampled_from("abcdefgh ABCDEFGH.,\n()"), max_size=300))
def test_a_text_without_secrets_is_unchanged(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        " ",
        "eyJ",
        "eyJ.",
        "password='",
        "password=",
        "token: ",
        "://a:b@",
        "SG.",
        "sk-",
        "=",
        "\\",
        "-----BEGIN ",
    ],
)
def test_a_mebibyte_of_one_thing_is_masked(unit: str) -> None:
    text = unit * (MEBI // len(unit))
    masked = mask(text)
    assert len(masked) >= 1
    assert mask(masked) == masked


def test_a_mebibyte_of_log_loses_its_one_secret() -> None:
    line = "2026-01-01 INFO request 550e8400 served in 12 ms by worker 7\n"
    token = TOKENS["gitlab personal"]
    text = line * (MEBI // 2 // len(line))
    assert mask(text + token + "\n" + text) == text + "[masked:gitlab-token]\n" + text
