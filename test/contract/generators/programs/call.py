"""Calls the API with the client of openapi-python-client: python call.py ORIGIN CLIENT_ID CLIENT_SECRET"""

import datetime
import os
import sys
import uuid

sys.path.insert(0, os.getcwd())
from client import AuthenticatedClient, Client
from client.api.authentication import issue_token
from client.api.inventory import list_assets, update_asset
from client.models import (
    AssetCategoryKey,
    AssetMetadataMergePatch,
    AssetMetadataPatchRequest,
    Classification,
    TokenRequest,
)

origin, client_id, client_secret = sys.argv[1:]
form = TokenRequest(grant_type="client_credentials", client_id=client_id, client_secret=client_secret)
token = issue_token.sync(client=Client(base_url=origin), body=form)
api = AuthenticatedClient(base_url=origin, token=token.access_token)


def first_of(category):
    page = list_assets.sync(client=api, category_key=category, page_size=5)
    return page.results[0]


def update(asset, patch):
    return update_asset.sync(asset.id, client=api, idempotency_key=str(uuid.uuid4()), body=patch)


assert first_of(AssetCategoryKey.INFORMATION).data_stored is not None
cloud = first_of(AssetCategoryKey.CLOUD)
assert cloud.data_stored is None
assert isinstance(cloud.created_at, datetime.datetime)
assert cloud.last_checked_at is None or isinstance(cloud.last_checked_at, datetime.datetime)

classified = update(cloud, AssetMetadataPatchRequest(description="Reviewed", classification=Classification.INTERNAL))
assert (classified.description, classified.classification) == ("Reviewed", Classification.INTERNAL)
kept = update(cloud, AssetMetadataPatchRequest(description=None, classification=None))
assert (kept.description, kept.classification) == ("Reviewed", Classification.INTERNAL)
cleared = update(cloud, AssetMetadataMergePatch(description=None, classification=None))
assert (cleared.description, cleared.classification) == (None, Classification.UNKNOWN)
