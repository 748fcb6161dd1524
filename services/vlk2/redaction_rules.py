"""What secrets look like: prefixes with their alphabets and lengths, and the names that keys give to secrets.

Token shapes are facts of the issuers, taken from the rule set of Betterleaks (MIT, the maintained successor of
Gitleaks by the same author) and the plugins of detect-secrets (Apache-2.0), and kept a little wider than both: a
token that a cut has shortened is still a secret. Data only, so that importing it costs nothing but its bytecode.
"""

from __future__ import annotations

from vlk2.hints import NamedTuple


class Shape(NamedTuple):
    """A token known by a literal: `kind` names it, `body` is the pattern of what follows `prefix`.

    `bound` asks for the start of a word before the prefix; a distinctive prefix is found inside words too.
    """

    kind: str
    prefix: str
    body: str
    bound: bool = False


_W = r"[A-Za-z0-9_-]"
_AN = r"[A-Za-z0-9]"
_HEX = r"[0-9a-fA-F]"
_B64 = r"[A-Za-z0-9+/]"


def _family(kind: str, body: str, *prefixes: str, bound: bool = False) -> tuple[Shape, ...]:
    return tuple(Shape(kind, prefix, body, bound) for prefix in prefixes)


SHAPES: tuple[Shape, ...] = (
    Shape("vlk2-token", "vlk2_", rf"{_W}{{43}}(?!{_W})", True),  # our own: a team server's
    # Source hosting, packages and continuous integration
    *_family("github-token", rf"{_AN}{{20,}}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    Shape("github-token", "github_pat_", r"\w{22,}"),
    *_family("gitlab-token", rf"{_W}{{16,}}(?:\.{_W}+){{0,2}}", "glpat-", "gldt-", "glft-", "glsoat-", "glrt-"),
    Shape("gitlab-session", "_gitlab_session=", r"[0-9a-z]{24,}"),
    *_family("gitlab-token", rf"{_W}{{16,}}", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-", "glffct-"),
    Shape("gitlab-token", "GR1348941", rf"{_W}{{16,}}"),
    Shape("bitbucket-token", "BBDC-", r"[A-Za-z0-9+/=]{24,}", True),
    *_family("bitbucket-token", r"[A-Za-z0-9_=-]{24,}", "ATBB", "ATCTT3xFfG", bound=True),
    Shape("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{24,}"),
    Shape("npm-token", "npm_", rf"{_AN}{{30,}}", True),
    Shape("pypi-token", "pypi-", rf"{_W}{{50,}}"),
    Shape("rubygems-token", "rubygems_", r"[a-f0-9]{32,}"),
    Shape("nuget-token", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])", True),
    *_family("clojars-token", rf"{_AN}{{40,}}", "CLOJARS_", "clojars_"),
    *_family("docker-token", rf"{_W}{{20,}}", "dckr_pat_", "dckr_oat_"),
    *_family("docker-swarm-token", r"[A-Za-z0-9+/-]{30,}", "SWMTKN-1-", "SWMKEY-1-"),
    Shape("circleci-token", "CCIPAT_", r"\w{30,}"),
    Shape("circleci-token", "CCIPRJ_", r"\w{30,}"),
    *_family("buildkite-token", rf"{_W}{{32,}}", "bkua_", "bkaa_", "bkaj_", "bkar_", "bkct_", "bkpt_", "bkpat_", "bkps_"),
    *_family("artifactory-token", rf"{_AN}{{50,}}", "AKCp", "cmVmd", bound=True),
    Shape("artifactory-token", "AKC", rf"{_AN}{{40,}}", True),
    Shape("sonarqube-token", "sqp_", r"[a-f0-9]{40}", True),
    Shape("sonarqube-token", "squ_", r"[a-f0-9]{40}", True),
    Shape("sonarqube-token", "sqa_", r"[a-f0-9]{40}", True),
    Shape("postman-token", "PMAK-", r"[A-Fa-f0-9-]{40,}"),
    Shape("sourcegraph-token", "sgp_", r"\w{32,}", True),
    Shape("octopus-token", "API-", r"[A-Z0-9]{26,}", True),
    Shape("aikido-token", "AIK_", r"(?:CI|CLIENT|SECRET)_[A-Za-z0-9]{16,}", True),
    Shape("infracost-token", "ico-", rf"{_AN}{{32}}", True),
    # Clouds and hosting
    *_family("aws-key", r"[A-Z0-9]{16}(?![A-Za-z0-9])", "AKIA", "ASIA", "ABIA", "ACCA", bound=True),
    Shape("aws-key", "A3T", r"[A-Z0-9]{17}(?![A-Za-z0-9])", True),
    Shape("aws-key", "ABSK", rf"{_B64}{{60,}}={{0,2}}", True),
    Shape("aws-key", "bedrock-api-key-", r"[A-Za-z0-9+/=]{20,}"),
    *_family("alibaba-key", rf"(?={_AN}{{0,64}}[0-9]){_AN}{{16,}}", "LTAI", "STS.", bound=True),
    Shape("tencent-key", "AKID", r"[A-Za-z0-9]{32}", True),
    Shape("google-key", "AIza", rf"{_W}{{30,}}"),
    Shape("google-key", "AQ.Ab8", rf"{_W}{{30,}}", True),
    Shape("google-key", "GOCSPX-", rf"{_W}{{20,}}"),
    Shape("google-key", "ya29.", r"[A-Za-z0-9_.-]{20,}", True),
    Shape("google-key", "1//0", rf"{_W}{{30,}}", True),
    Shape("digitalocean-token", "doo_v1_", r"[a-f0-9]{32,}"),
    Shape("digitalocean-token", "dop_v1_", r"[a-f0-9]{32,}"),
    Shape("digitalocean-token", "dor_v1_", r"[a-f0-9]{32,}"),
    Shape("heroku-key", "HRKU-", rf"{_W}{{32,}}"),
    *_family("cloudflare-token", r"[A-Za-z0-9]{40,}", "cfut_", "cfat_", bound=True),
    Shape("cloudflare-token", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}", True),
    *_family("fly-token", r"[A-Za-z0-9+/=_,-]{40,}", "FlyV1 fm", "fm2_", "fo1_", bound=True),
    Shape("netlify-token", "nfp_", rf"{_AN}{{30,}}", True),
    *_family("vercel-token", rf"(?={_W}{{0,64}}[0-9]){_W}{{50,}}|{_AN}{{24,}}", "vck_", "vca_", "vcr_", "vci_", "vcp_", bound=True),
    Shape("render-token", "rnd_", rf"{_AN}{{24,}}", True),
    Shape("scalingo-token", "tk-us-", rf"{_W}{{40,}}", True),
    Shape("upcloud-token", "ucat_", rf"{_AN}{{20,}}", True),
    Shape("exoscale-key", "EXO", r"[a-f0-9]{24,30}(?![A-Za-z0-9])", True),
    Shape("ibm-key", "ApiKey-", rf"{_W}{{40,}}", True),
    Shape("openshift-token", "sha256~", rf"{_W}{{40,}}", True),
    Shape("databricks-token", "dapi", r"[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])", True),
    Shape("doppler-token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}", True),
    *_family("vault-token", rf"{_W}{{20,}}", "hvs.", "hvb.", "hvr.", bound=True),
    Shape("pulumi-token", "pul-", r"[a-f0-9]{40}", True),
    Shape("prefect-token", "pnu_", rf"{_AN}{{32,}}", True),
    Shape("tailscale-key", "tskey-", rf"{_W}{{16,}}", True),
    Shape("mergify-key", "mergify_application_key_", rf"{_W}{{20,}}"),
    Shape("devin-key", "apk_user_", r"[A-Za-z0-9+/=]{60,}", True),
    Shape("devin-key", "apk_", r"[A-Za-z0-9+/=]{60,}", True),
    Shape("devin-key", "cog_", r"[a-z2-7]{40,}", True),
    # Data stores and observability
    *_family("planetscale-token", r"[\w=.-]{24,}", "pscale_tkn_", "pscale_oauth_", "pscale_pw_"),
    Shape("supabase-key", "sbp_", rf"(?={_W}{{0,64}}[0-9])[a-z0-9]{_W}{{35,}}|{_AN}{{30,}}", True),
    Shape("supabase-key", "sb_secret_", rf"{_W}{{20,}}", True),
    Shape("neon-key", "napi_", rf"{_AN}{{40,}}", True),
    Shape("mongodb-key", "mdb_sa_sk_", rf"{_W}{{24,}}"),
    Shape("cockroach-key", "CCDB1_", r"\w{40,}", True),
    Shape("clickhouse-key", "4b1d", r"[A-Za-z0-9]{38}(?![A-Za-z0-9])", True),
    Shape("datastax-token", "AstraCS:", r"[A-Za-z0-9:]{20,}"),
    Shape("elastic-key", "essu_", r"[A-Za-z0-9_=-]{40,}", True),
    Shape("pinecone-key", "pcsk_", r"\w{40,}", True),
    *_family("grafana-token", rf"{_B64}{{32,}}={{0,2}}", "glc_", "eyJrIjoi", bound=True),
    Shape("grafana-token", "glsa_", r"\w{32,}", True),
    Shape("dynatrace-token", "dt0c01.", rf"{_AN}{{20,}}(?:\.{_AN}{{20,}})?", True),
    Shape("sentry-token", "sntrys_", r"[A-Za-z0-9+/=_]{40,}"),
    Shape("sentry-token", "sntryu_", r"[a-f0-9]{40,}"),
    *_family("newrelic-key", rf"{_W}{{27,}}", "NRAK-", "NRJS-", "NRII-", "NRAA-", bound=True),
    *_family("posthog-key", rf"(?={_W}{{0,64}}[0-9])(?={_W}{{0,64}}[A-Z]){_W}{{32,}}", "phx_", "phc_", bound=True),
    *_family("langfuse-key", r"[a-f0-9-]{32,}", "sk-lf-", "pk-lf-", bound=True),
    *_family("langsmith-key", r"[A-Fa-f0-9_]{32,}", "lsv2_pt_", "lsv2_sk_", bound=True),
    Shape("wandb-key", "wandb_v1_", r"\w{40,}", True),
    Shape("rootly-key", "rootly_", r"[a-f0-9]{40,}", True),
    Shape("wakatime-key", "waka_", r"[A-Za-z0-9-]{32,}", True),
    Shape("configcat-key", "configcat-sdk-", r"[A-Za-z0-9_/-]{40,}", True),
    *_family("devcycle-key", rf"(?={_AN}{{0,64}}[0-9]){_AN}{{8,}}", "dvc_server_", "dvc_client_", "dvc_mobile_", bound=True),
    # Models
    Shape("anthropic-key", "sk-ant-", rf"{_W}{{20,}}"),
    Shape("openrouter-key", "sk-or-", rf"{_W}{{32,}}", True),
    *_family("openai-key", rf"{_W}{{20,}}", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-api-", bound=True),
    Shape("openai-key", "sess-", rf"{_AN}{{40}}(?![A-Za-z0-9])", True),
    Shape("openai-key", "sk-", rf"(?={_W}{{0,64}}[0-9])(?:{_AN}{{20,}}|{_W}{{40,}})", True),
    *_family("huggingface-token", r"[A-Za-z]{30,}|[A-Za-z0-9]{34,}", "hf_", "api_org_", bound=True),
    Shape("groq-key", "gsk_", rf"{_AN}{{40,}}", True),
    Shape("xai-key", "xai-", rf"{_W}{{60,}}", True),
    Shape("perplexity-key", "pplx-", rf"{_AN}{{32,}}", True),
    Shape("nvidia-key", "nvapi-", rf"{_W}{{40,}}"),
    Shape("replicate-token", "r8_", rf"{_AN}{{32,}}", True),
    Shape("cerebras-key", "csk-", rf"{_AN}{{40,}}", True),
    Shape("together-key", "tgp_v1_", rf"{_W}{{32,}}", True),
    Shape("llamacloud-key", "llx-", rf"{_AN}{{40,}}", True),
    Shape("fireworks-key", "fw_", rf"(?={_AN}{{0,64}}[0-9]){_AN}{{22,}}", True),
    Shape("brave-key", "BSA", rf"(?={_W}{{0,64}}[0-9]){_AN}[A-Za-z0-9_-]{{23,}}", True),
    *_family("runpod-key", rf"{_AN}{{30,}}", "rpa_", bound=True),
    Shape("cartesia-key", "sk_car_", r"\w{16,}", True),
    Shape("elevenlabs-key", "sk_", r"[a-f0-9]{40,}", True),
    Shape("apify-token", "apify_api_", rf"{_AN}{{24,}}"),
    # Messages, mail and work tools
    Shape("slack-token", "xox", rf"[a-z](?:[.-]xox[a-z])?-{_W}[A-Za-z0-9_+/=%-]{{7,}}", True),
    Shape("slack-token", "xapp-", r"\d-[A-Za-z0-9-]{16,}", True),
    Shape("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9_+/]{16,}"),
    Shape("discord-webhook", "/api/webhooks/", rf"\d{{10,}}/{_W}{{20,}}"),
    Shape("teams-webhook", ".webhook.office.com/", r"[A-Za-z0-9@/._-]{40,}"),
    Shape("sendgrid-key", "SG.", r"(?=[\w=.-]{0,64}[0-9])[\w=.-]{32,}", True),
    *_family("brevo-key", r"[A-Fa-f0-9-]{40,}(?:[A-Za-z0-9]{8,})?", "xkeysib-", "xsmtpsib-"),
    Shape("mailersend-token", "mlsn.", rf"{_AN}{{30,}}", True),
    Shape("resend-key", "re_", rf"{_AN}{{8}}_{_AN}{{20,}}", True),
    Shape("twilio-key", "SK", r"[0-9a-f]{32}(?![A-Za-z0-9])", True),
    Shape("twilio-key", "AC", r"[0-9a-f]{32}(?![A-Za-z0-9])", True),
    Shape("onesignal-key", "os_v2_", r"[a-z]{3}_[a-z2-7]{60,}", True),
    *_family("notion-token", rf"{_AN}{{40,}}", "ntn_", "secret_", bound=True),
    *_family("linear-token", rf"{_AN}{{32,}}", "lin_api_", "lin_oauth_", bound=True),
    Shape("figma-token", "figd_", rf"{_W}{{30,}}", True),
    Shape("airtable-token", "pat", rf"{_AN}{{14}}\.[a-f0-9]{{40,}}", True),
    *_family("harness-token", rf"{_W}{{22}}\.[0-9a-f]{{24}}\.{_AN}{{16,}}", "pat.", "sat.", bound=True),
    Shape("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}", True),
    Shape("canva-secret", "cnvca", rf"{_W}{{40,}}", True),
    Shape("frameio-token", "fio-u-", r"[A-Za-z0-9_=-]{40,}"),
    Shape("contentful-token", "CFPAT-", rf"{_W}{{30,}}", True),
    Shape("workato-token", "wrka", rf"[a-z]{{0,2}}-eyJ{_W}{{8,}}(?:\.{_W}+){{0,2}}", True),
    Shape("miro-token", "eyJtaXJv", rf"{_W}{{24,}}", True),
    Shape("1password-key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9-]{20,}", True),
    Shape("1password-token", "ops_eyJ", rf"{_B64}{{60,}}={{0,3}}"),
    Shape("age-key", "AGE-SECRET-KEY-", r"[0-9A-Z-]{20,}"),
    *_family("cloudsmith-key", r"[a-f0-9]{30}[A-Za-z0-9]{6}", "csa_", bound=True),
    Shape("readme-token", "rdme_", r"[a-z0-9]{50,}", True),
    Shape("valtown-token", "vtwn_", rf"{_W}{{20,}}", True),
    Shape("unkey-key", "unkey_", rf"{_AN}{{20,}}", True),
    *_family("settlemint-token", rf"{_AN}{{16,}}", "sm_aat_", "sm_pat_", "sm_sat_", bound=True),
    Shape("deno-token", "ddp_", rf"{_AN}{{30,}}", True),
    Shape("lichess-token", "lip_", rf"(?={_W}{{0,64}}[0-9])(?={_W}{{0,64}}[A-Z]){_W}{{16,}}", True),
    Shape("nylas-key", "nyk_", rf"{_AN}{{32,}}", True),
    *_family("polar-token", rf"{_W}{{20,}}", "polar_at_", "polar_oat_", "polar_pat_", bound=True),
    *_family("onfido-token", rf"(?:_ca|_us)?\.{_W}{{20,}}", "api_live", "api_sandbox", bound=True),
    *_family("persona-key", rf"{_W}{{20,}}", "persona_production_", "persona_sandbox_", bound=True),
    Shape("pinterest-token", "pina_", rf"(?={_W}{{0,64}}[0-9])(?={_W}{{0,64}}[A-Z]){_W}{{16,}}", True),
    Shape("adobe-secret", "p8e-", rf"{_AN}{{32}}", True),
    Shape("intra42-secret", "s-s4t2", r"(?:ud|af)-[A-Fa-f0-9]{40,}", True),
    Shape("samsara-token", "samsara_api_", rf"{_AN}{{20,}}", True),
    Shape("thunderstore-token", "tss_", rf"(?={_W}{{0,64}}[0-9])(?={_W}{{0,64}}[A-Z]){_W}{{16,}}", True),
    Shape("ionic-token", "ion_", rf"{_AN}{{40,}}", True),
    Shape("proof-key", "prf_", rf"(?={_W}{{0,64}}[0-9])(?={_W}{{0,64}}[A-Z]){_W}{{16,}}", True),
    # Money and shops
    *_family("stripe-key", rf"{_AN}{{10,}}", "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
    Shape("stripe-key", "whsec_", r"[A-Za-z0-9+/=]{24,}", True),
    *_family("square-token", rf"{_W}{{22,}}", "sq0atp-", "sq0csp-", "sq0idp-"),
    Shape("square-token", "EAAA", rf"(?={_W}{{0,64}}[0-9]){_W}{{40,}}", True),
    Shape("facebook-token", "EAA", rf"(?={_AN}{{0,64}}[0-9]){_AN}{{60,}}", True),
    *_family("shopify-token", r"[a-fA-F0-9]{32,}", "shpat_", "shpca_", "shppa_", "shpss_"),
    *_family("razorpay-key", rf"{_AN}{{14,}}", "rzp_live_", "rzp_test_"),
    *_family("easypost-key", rf"{_AN}{{40,}}", "EZAK", "EZTK", bound=True),
    *_family("flutterwave-key", r"[A-Za-z0-9-]{12,}", "FLWSECK_TEST-", "FLWSECK-", "FLWPUBK_TEST-"),
    *_family("shippo-token", r"[a-fA-F0-9]{40}", "shippo_live_", "shippo_test_"),
    *_family("duffel-token", r"[A-Za-z0-9_=-]{40,}", "duffel_live_", "duffel_test_"),
    Shape("paddle-key", "pdl_", r"(?:live|sdbx)_apikey_\w{40,}", True),
    Shape("mercury-token", "mercury_production_", r"\w{40,}", True),
    *_family("ramp-secret", rf"{_AN}{{40,}}", "ramp_sec_", "ramp_id_", bound=True),
    Shape("xendit-key", "xnd_", r"(?:production|development)_[A-Za-z0-9]{40,}", True),
    *_family("asaas-token", rf"{_W}{{20,}}", "$aact_prod_", "$aact_hmlg_"),
    Shape("salesforce-token", "00D", rf"{_AN}{{12,15}}![A-Za-z0-9._]{{20,}}", True),
    *_family("authress-key", r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
             "sc_", "ext_", "scauth_", "authress_", bound=True),
)  # fmt: skip
"""Tried by literal: a shape's pattern is compiled only for a text in which its prefix stands."""


class Pattern(NamedTuple):
    """A secret with no literal at its start: searched for only where every one of `needles` stands in the text.

    Group 1 is the secret where the pattern has groups.
    """

    kind: str
    needles: tuple[str, ...]
    pattern: str


PATTERNS: tuple[Pattern, ...] = (
    Pattern("mailchimp-key", ("-us",), r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])"),
    Pattern("mailgun-key", ("mailgun", "key-"), r"(?<![A-Za-z0-9_-])key-[a-f0-9]{32}(?![A-Za-z0-9])"),
    Pattern("telegram-token", (":AA",), rf"(?<![0-9])[0-9]{{8,10}}:AA{_W}{{30,}}"),
    Pattern("azure-secret", ("Q~",), r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{28,}"),
    Pattern("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{30,}"),
    Pattern("maxmind-key", ("_mmk",), r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    Pattern("jwk-key", ('"kty"',), r'"(?:d|k|p|q|dp|dq|qi)" ?: ?"([A-Za-z0-9_-]{16,})"'),
    Pattern(
        "password-hash",
        ("$",),
        r"\$(?:2[abxy]?\$[0-9]{2}\$[./A-Za-z0-9]{50,}"
        r"|(?:1|5|6|y|apr1|argon2id|argon2i|argon2d)\$[./A-Za-z0-9$=,+-]{20,})",
    ),
    Pattern("signature", ("ignature=",), r"(?i:x-(?:amz|goog)-signature)=([A-Fa-f0-9]{16,})"),
    Pattern("signature", ("sig=",), r"[?&;]sig=([A-Za-z0-9%+/=_-]{20,})"),
    Pattern("password", ("@tcp(",), r"""[\w.-]{1,64}:([^\s@/"']{1,128})@tcp\("""),
    Pattern("password", ("@unix(",), r"""[\w.-]{1,64}:([^\s@/"']{1,128})@unix\("""),
    Pattern("password", ("login", "password"), r"\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(\S{1,256})"),
)

_ARG = r"""["']?((?<=")[^"\n]+|(?<=')[^'\n]+|[^\s"'`;|&]+)"""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("curl ", rf"\s(?:-u\s?|--user[ =])[\"']?[^\s:\"']{{0,64}}:{_ARG}"),
    ("wget ", rf"\s--(?:http-|ftp-|proxy-)?password[ =]{_ARG}"),
    ("mysql", rf"\s-p(?![\d.:]+(?:[\s\"',]|\Z))(?!\s){_ARG}"),
    ("mariadb", rf"\s-p(?![\d.:]+(?:[\s\"',]|\Z))(?!\s){_ARG}"),
    ("sshpass ", rf"\s-p\s?{_ARG}"),
    ("docker login", rf"\s-p[ =]?{_ARG}"),
    ("podman login", rf"\s-p[ =]?{_ARG}"),
    ("az login", rf"\s-p[ =]?{_ARG}"),
    ("redis-cli ", rf"\s-a\s?{_ARG}"),
    ("mongosh ", rf"\s-p\s{_ARG}"),
    ("mongodump ", rf"\s-p\s{_ARG}"),
    ("ldapsearch ", rf"\s-w\s?{_ARG}"),
    ("sqlcmd ", rf"\s-P\s?{_ARG}"),
    ("bcp ", rf"\s-P\s?{_ARG}"),
    ("smbclient ", rf"\s-U\s?[\"']?[^\s%]{{1,64}}%{_ARG}"),
    ("openssl ", rf"\spass:{_ARG}"),
    ("htpasswd ", rf"\s-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+\S+\s+{_ARG}"),
)
"""A command's name and the pattern, within its line, of the argument that is a password."""

KEYWORDS: tuple[str, ...] = ("passw", "passphrase", "passcode", "_pass", "-pass", "pwd", "secret", "token", "credential", "auth", "key")  # fmt: skip
"""Every name that `NAMES` or `KEY_QUALIFIERS` knows holds one of these, in lower case."""

NAMES: tuple[tuple[str, str], ...] = (
    ("password", "password"), ("passwd", "password"), ("passwort", "password"), ("passphrase", "password"),
    ("passcode", "password"), ("pwd", "password"), ("_pass", "password"), ("secret", "secret"), ("token", "token"),
    ("credential", "secret"), ("credentials", "secret"), ("apikey", "api-key"), ("accesskey", "api-key"),
    ("secretkey", "secret"), ("privatekey", "secret"), ("key_base", "secret"), ("_auth", "secret"),
)  # fmt: skip
"""How a key that holds a secret ends, in snake case, and the kind of its value."""

KEY_QUALIFIERS = frozenset(
    (
        "access", "account", "admin", "api", "app", "application", "auth", "aws", "cipher", "client", "consumer",
        "crypto", "decryption", "deploy", "encrypt", "encryption", "hmac", "jwt", "license", "master", "private",
        "registration", "root", "secret", "service", "session", "shared", "sign", "signing", "ssh", "storage",
        "subscription", "webhook",
    )
)  # fmt: skip
"""The words that make `..._key` the name of a secret; a primary, cache or public key is none."""

PLAIN_TOKENS = frozenset(
    (
        "bad", "bos", "cancel", "cancellation", "cls", "continuation", "current", "dedup", "end", "eos", "first", "last", "lookahead",
        "mask", "max", "min", "next", "num", "pad", "page", "parse", "per", "previous", "sep", "special", "start", "stop", "sync",
        "syntax", "unexpected", "unk", "unknown",
    )
)  # fmt: skip
"""The words that make `..._token` a piece of text, a mark of a page or a name for a crash, and no secret."""

SUFFIXES = frozenset(
    (
        "b64",
        "base64",
        "dev",
        "live",
        "local",
        "new",
        "old",
        "prod",
        "production",
        "stage",
        "staging",
        "test",
        "value",
    )
)
"""Words that may follow the name of a secret without making it the name of something else."""

NOT_SECRET = frozenset(
    (
        "any", "apikey", "api_key", "api-key", "auth", "bad", "bearer", "bool", "boolean", "bytes", "char", "credentials",
        "default", "denied", "disabled", "empty", "enabled", "error", "expected", "expired", "failed", "false", "field",
        "file", "filtered", "found", "hidden", "identifier", "ignored", "in", "incorrect", "int", "integer", "invalid",
        "is", "key", "len", "length", "masked", "mismatch", "missing", "must", "nil", "no", "none", "not", "null",
        "number", "object", "ok", "omitted", "optional", "option", "param", "parameter", "passwd", "password", "prompt",
        "provided", "pwd", "redacted", "rejected", "removed", "required", "revoked", "secret", "self", "set", "static",
        "str", "string", "stripped", "text", "this", "token", "true", "type", "unauthorized", "undefined", "unexpected",
        "unknown", "unset", "unused", "user", "username", "value", "var", "variable", "void", "was", "wrong", "yes",
        "should", "cannot", "please", "with", "for", "and", "or", "the", "a", "an", "to", "from", "of", "on", "at",
        "argument", "flag", "requires", "needs", "instead", "does", "has", "be", "can", "may", "will", "if", "when",
        "callable", "function", "class", "const", "let", "return", "await", "new", "async", "lambda", "throw", "raise",
        "nonetype", "dict", "list", "tuple", "float", "double", "long", "usize", "record", "never", "symbol", "bigint",
    )
)  # fmt: skip
"""Words that stand where a secret would and are none: types, states, and the first words of messages."""

WEAK_PASSWORDS = frozenset(
    ("default", "passwd", "password", "pwd", "secret", "self", "text", "user", "username")
)
"""Those of `NOT_SECRET` that people do set as a password: told by the form of the assignment alone."""

PROSE = frozenset(
    (
        "a", "an", "are", "at", "be", "been", "blank", "can", "cannot", "contain", "does", "empty", "enter", "expired",
        "field", "for", "has", "in", "incorrect", "invalid", "is", "least", "missing", "must", "not", "of", "or", "please",
        "required", "short", "should", "the", "this", "to", "too", "was", "your", "wrong",
    )
)  # fmt: skip
"""Words of which one makes a quoted text with spaces a message about a secret and not the secret."""

ABOUT = frozenset(
    (
        "argument", "arguments", "attribute", "class", "column", "expected", "field", "function", "identifier", "import",
        "invalid", "key", "keyerror", "keyword", "label", "member", "method", "missing", "module", "name", "named",
        "option", "parameter", "property", "struct", "trait", "type", "undefined", "unexpected", "unknown",
        "unrecognized", "unresolved", "variable",
    )
)  # fmt: skip
"""Words before a key that make what follows a report about the name and not a value."""
