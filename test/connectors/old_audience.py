"""Gets tokens by requests_oauth2client and Authlib as they are, which name the token endpoint as audience."""

import os

import requests
from authlib.integrations.httpx_client import OAuth2Client as Authlib
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc.jwk import OKPKey
from jwskate import Jwk
from requests_oauth2client import InvalidClient, OAuth2Client, PrivateKeyJwt

ISSUER = os.environ["BASE_URL"]
ENDPOINT = f"{ISSUER}/oauth/token"
with open("key.pem") as file:
    PEM = file.read()


def ask(client_id, **options):
    key = Jwk({**Jwk.from_pem(PEM), "kid": "my-key"})
    proof = PrivateKeyJwt(client_id, key, alg="EdDSA", **options)
    return OAuth2Client(ENDPOINT, auth=proof, testing=True).client_credentials().access_token


def works(token):
    requests.get(f"{ISSUER}/v1/me", headers={"Authorization": f"Bearer {token}"}).raise_for_status()


works(ask(os.environ["CLIENT_ID"], aud=ISSUER))
works(ask(os.environ["OLD_CLIENT_ID"]))
try:
    ask(os.environ["CLIENT_ID"])
except InvalidClient:
    pass
else:
    raise AssertionError("the old audience was accepted")

method = PrivateKeyJWT(headers={"kid": "my-key"}, alg="EdDSA")
client = Authlib(os.environ["OLD_CLIENT_ID"], OKPKey.import_key(PEM), token_endpoint_auth_method=method)
for _ in range(2):
    works(client.fetch_token(ENDPOINT, grant_type="client_credentials")["access_token"])
