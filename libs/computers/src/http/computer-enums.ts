import { namedEnum } from '#libs/platform/openapi';
import { CHECKS } from '../domain/posture';

export const COMPUTER_CHECK = namedEnum('ComputerCheck', CHECKS, 'A check of the posture of a computer.');
