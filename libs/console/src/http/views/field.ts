/** A control with its label, and beside it why it was refused. */
export const field = (name: string, label: string, hint: string, control: string): string =>
  `<div class="field"><label for="${name}">${label}${hint && ` <span class="hint">${hint}</span>`}</label>
${control}
<%~ include('@error', { ...it, name: '${name}' }) %></div>`;

/** Those that tie a control to its label and to the reason. */
export const attributes = (name: string): string =>
  `id="${name}" name="${name}"<%~ include('@invalid', { ...it, name: '${name}' }) %>`;
