import type { ImportError } from '#libs/inventory/operators';
import { visibleText } from './visible-text';

/** Shows a bad line of an import, or what an import warned of. */
export const faultLine = ({ file, line, reason }: ImportError, kind: 'error' | 'warning'): string =>
  visibleText(
    `${file === undefined ? '' : `${file}, `}line ${line}: ${kind === 'warning' ? 'warning: ' : ''}${reason}`,
  );
