import { FRAME, REFUSAL } from './frame';
import { SIGN_IN, SIGN_IN_LINK, WORKSPACES } from './sign-in';
import { APPLICATION, APPLICATIONS, SECRET } from './applications';
import { ASSET, AUDIT, CHOOSE_OWNER, COMPUTER, COMPUTERS, IMPORT, IMPORTS, INVENTORY } from './lists';
import { PEOPLE } from './people';
import { OVERVIEW } from './overview';
import { UPLOAD, UPLOAD_FORM, UPLOAD_GONE } from './uploads';

/** The templates by name. `<%= … %>` escapes; `<%~ … %>` does not, and stands for other templates and charts only. */
export const VIEWS = {
  ...FRAME,
  refusal: REFUSAL,
  signIn: SIGN_IN,
  signInLink: SIGN_IN_LINK,
  workspaces: WORKSPACES,
  overview: OVERVIEW,
  inventory: INVENTORY,
  asset: ASSET,
  chooseOwner: CHOOSE_OWNER,
  computers: COMPUTERS,
  computer: COMPUTER,
  imports: IMPORTS,
  import: IMPORT,
  uploadForm: UPLOAD_FORM,
  upload: UPLOAD,
  uploadGone: UPLOAD_GONE,
  audit: AUDIT,
  people: PEOPLE,
  applications: APPLICATIONS,
  application: APPLICATION,
  secret: SECRET,
} as const satisfies Readonly<Record<string, string>>;
