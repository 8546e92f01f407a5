import { APPLICATIONS } from './applications';
import { FRAME } from './frame';
import { LISTS } from './lists';
import { OVERVIEW } from './overview';
import { PEOPLE } from './people';
import { SIGN_IN } from './sign-in';
import { UPLOADS } from './uploads';

/** The templates by name. `<%= … %>` escapes; `<%~ … %>` does not, and stands for other templates and charts only. */
export const VIEWS = { ...FRAME, ...SIGN_IN, ...OVERVIEW, ...LISTS, ...UPLOADS, ...PEOPLE, ...APPLICATIONS };
