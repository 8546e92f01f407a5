import { Clock } from '#libs/kernel';

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
