"""Finds its way from a 401 to a token with Authlib. Prints the ways in which it authenticated."""

import os, re

import httpx
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url
from joserfc import jwt
from joserfc.jwk import KeySet

ME = f"{os.environ['BASE_URL']}/v1/me"
SCOPE = "inventory:read"


def get(url):
    return httpx.get(url).raise_for_status().json()


def secure(value):
    """Authlib accepts https only, which the demo does not speak."""
    return re.sub("^http:", "https:", value) if isinstance(value, str) else value


refusal = httpx.get(ME)
assert refusal.status_code == 401, refusal.text
challenge = refusal.headers["WWW-Authenticate"]
[issuer] = get(re.search('resource_metadata="([^"]+)"', challenge)[1])["authorization_servers"]
metadata = get(get_well_known_url(issuer, external=True))
assert metadata["issuer"] == issuer, metadata
AuthorizationServerMetadata({name: secure(value) for name, value in metadata.items()}).validate()
keys = KeySet.import_key_set(get(metadata["jwks_uri"]))


def ask(method, secret):
    client = OAuth2Client(os.environ["CLIENT_ID"], secret, token_endpoint_auth_method=method, scope=SCOPE)
    client.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
    return client


methods = [name for name in metadata["token_endpoint_auth_methods_supported"] if name.startswith("client_secret_")]
for method in methods:
    client = ask(method, os.environ["CLIENT_SECRET"])
    response = client.get(ME).raise_for_status().json()
    assert response["token"]["scopes"] == [SCOPE], response
    claims = jwt.decode(client.token["access_token"], keys, algorithms=["RS256"]).claims
    assert claims["iss"] == issuer and claims["scope"] == SCOPE, claims
    try:
        ask(method, "wrong")
    except OAuthError as error:
        assert error.error == "invalid_client", error
    else:
        raise AssertionError("a wrong secret got a token")
print(", ".join(methods))
