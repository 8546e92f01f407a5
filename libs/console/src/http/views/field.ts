/** A control with its label, and beside it why it was refused. */
export const field = (name: string, label: string, hint: string, control: string): string =>
  `<div class="field"><label for="${name}">${label}${hint && ` <span class="hint">${hint}</span>`}</label>
${control}
<%~ include('@error', { ...it, name: '${name}' }) %></div>`;

/** Those that tie a control to its label and to the reason. */
export const attributes = (name: string): string =>
  `id="${name}" name="${name}"<%~ include('@invalid', { ...it, name: '${name}' }) %>`;

export const input = (name: string, label: string, hint: string, rules = '', value = `it.typed.${name}`): string =>
  field(name, label, hint, `<input ${attributes(name)} value="<%= ${value} %>" ${rules}>`);

export const textarea = (name: string, label: string, hint: string, rules: string): string =>
  field(name, label, hint, `<textarea ${attributes(name)} ${rules}><%= it.typed.${name} %></textarea>`);

/** A value that is no choice stays, beside its reason. */
export const select = (name: string, label: string, hint: string, options: string): string => {
  const choices = `<% for (const [value, label] of ${options}) { %><option value="<%= value %>"<% if (it.typed.${name} === value) { %> selected<% } %>><%= label %></option><% } %>`;
  const typed = `<% if (it.errors.${name}) { %><option selected><%= it.typed.${name} %></option><% } %>`;
  return field(name, label, hint, `<select ${attributes(name)}>${choices}${typed}</select>`);
};

/** Boxes to tick, one for each value and text of the choices. A query has the ticked ones as one text. */
export const boxes = (name: string, legend: string, choices: string, label: string): string =>
  `<fieldset<%~ include('@invalid', { ...it, name: '${name}' }) %>><legend>${legend}</legend>
<% for (const [value, text] of Object.entries(${choices})) { %>
<label class="box"><input type="checkbox" name="${name}" value="<%= value %>"<% if (\`,\${it.typed.${name}},\`.includes(\`,\${value},\`)) { %> checked<% } %>> ${label}</label>
<% } %>
<%~ include('@error', { ...it, name: '${name}' }) %></fieldset>`;

/** A box to tick. */
export const box = (name: string, value: string, label: string): string =>
  `<label class="box"><input type="checkbox" name="${name}" value="${value}"<% if (it.typed.${name} === '${value}') { %> checked<% } %>> ${label}</label>`;

export const form = (action: string, fields: string, label: string, look = ''): string =>
  `<form method="post" action="${action}" class="fields"><%~ include('@fields', it) %>
${fields}
<button class="${look}">${label}</button>
</form>`;

/** A button that first tells what it does, and does it by a second click. `of` names one of several for screen readers. */
export const asked = (action: string, label: string, effect: string, of = '', fields = ''): string => {
  const named = of && `<span class="hidden"> <%= ${of} %></span>`;
  const confirmation = form(action, `${fields}<p>${effect}</p>`, `${label} now${named}`, 'bad');
  return `<details><summary class="button plain">${label}${named}</summary>${confirmation}</details>`;
};

/**
 * A table with a row for each `one`, on a phone a list of labelled values. `Change` has buttons, which need no label. It ends
 * where the page is full.
 */
export const table = (rows: string, none: string, cells: Readonly<Record<string, string>>): string => {
  const labels = Object.keys(cells);
  const row = Object.entries(cells).map(([label, cell], place) => {
    const named = place === 0 || label === 'Change' ? '' : ` data-label="${label}"`;
    return `<td${named}>${cell}</td>`;
  });
  return `<% if (${rows}.length > 0) { %><div class="table"><table class="stacked">
<thead><tr>${labels.map((label) => `<th scope="col">${label}</th>`).join('')}</tr></thead>
<tbody>
<% for (const one of ${rows}) { if (it.isFull()) { %>
<tr><td colspan="${labels.length}" class="bad-text">The rest is too long for this page.</td></tr>
<% break; } %>
<tr>${row.join('\n')}</tr>
<% } %>
</tbody></table></div><% } else { %>${none && `<p class="notice">${none}</p>`}<% } %>`;
};
