const PERSON = /^person ([0-9a-f-]{36})$/;

/** Names a person of the console where records name an operator too. No operator's name begins so. */
export const personName = (personId: string): string => `person ${personId}`;

/** The id in a name by {@link personName}. Null for an operator's name. */
export const personIdIn = (name: string | null): string | null => PERSON.exec(name ?? '')?.[1] ?? null;
