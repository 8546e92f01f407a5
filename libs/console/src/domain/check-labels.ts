/** The checks of a computer as people call them, in the order of `CHECKS` of the computers. */
export const CHECK_LABELS = ['Antivirus', 'Disk encryption', 'Password manager', 'Screen lock'] as const;
