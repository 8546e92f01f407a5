import { randomUUID } from 'node:crypto';
import { workspaceId } from '#libs/kernel';
import { assetRepositoryContract } from './asset-repository.contract';
import { AssetRepositoryFake } from './asset-repository.fake';

describe('The model of the asset repository', () => {
  assetRepositoryContract(() => {
    const repository = new AssetRepositoryFake();
    return Promise.resolve({
      repository,
      workspaceId: workspaceId(randomUUID()),
      otherWorkspaceId: workspaceId(randomUUID()),
      add: (workspace, assets) => {
        for (const asset of assets) repository.add(workspace, asset);
        return Promise.resolve();
      },
      addTagKey: (workspace, tagKey) => {
        repository.addTagKey(workspace, tagKey);
        return Promise.resolve();
      },
      unitOfWork: (_, work) => work(),
    });
  });
});
