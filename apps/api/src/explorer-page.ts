/** Served with the files of Swagger UI, all from this origin. */
export const EXPLORER_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Compliance Platform Public API</title>
<link rel="icon" type="image/png" href="./docs/favicon-32x32.png" sizes="32x32">
<link rel="stylesheet" href="./docs/swagger-ui.css">
<link rel="stylesheet" href="./docs/explorer.css">
</head>
<body>
<noscript>This page needs JavaScript. <a href="./docs/openapi.json">The contract</a> can be read without.</noscript>
<div id="explorer"></div>
<script src="./docs/swagger-ui-bundle.js"></script>
<script src="./docs/explorer.js"></script>
</body>
</html>
`;

/** Adds missing styles and corrects Swagger UI for this API. */
export const EXPLORER_STYLE = `html { box-sizing: border-box; }
*, *::before, *::after { box-sizing: inherit; }
body { margin: 0; background: #fafafa; }
/* The colours of Swagger UI's dark mode, before its script runs. */
@media (prefers-color-scheme: dark) { body { background: #1c2022; color: #e4e6e6; } }
noscript { display: block; padding: 2rem; font: 1rem sans-serif; }

.swagger-ui .info { margin: 1.5rem 0; }
.swagger-ui .scheme-container { padding: 1rem 0; }

/* The text mentions end users, who do not exist with client credentials. */
.swagger-ui .scope-def { display: none; }
/* Responses of this API have no links. */
.swagger-ui .response-col_links { display: none; }
/* Empty fields are omitted, never sent empty. */
.swagger-ui .parameter__empty_value_toggle { display: none; }
.swagger-ui .renderedMarkdown code { font-size: 0.95em; padding: 0 0.25em; }
/* Swagger UI hides its checkboxes, so no key reaches them. Make them transparent instead. */
.swagger-ui .checkbox { position: relative; }
.swagger-ui .checkbox input[type='checkbox'] { display: block; position: absolute; opacity: 0; }
.swagger-ui .checkbox input[type='checkbox']:focus-visible + label > .item { outline: 2px solid; outline-offset: 2px; }
.swagger-ui .auth-container input[type='text'], .swagger-ui .auth-container input[type='password'] {
  width: 100%; max-width: 30em;
}
/* Swagger UI's dark mode leaves these in its dark text colour. */
.dark-mode .swagger-ui .headers td, .dark-mode .swagger-ui .examples-select__section-label { color: #e4e6e6; }
.dark-mode .swagger-ui .parameter__extension { color: #b7bcbf; }
/* An error in one line; see explorer-errors.ts. */
.swagger-ui .responses-table .folded td { padding: 0; }
.swagger-ui .unfold {
  display: block; width: 100%; border: 0; border-top: 1px solid #8884; padding: 0.5rem 0; background: none; color: inherit;
  font: 0.875rem sans-serif; text-align: left; overflow-wrap: anywhere; cursor: pointer;
}
.swagger-ui .unfold::before { content: '▸'; display: inline-block; width: 1.25em; }
.swagger-ui .unfold[aria-expanded='true']::before { content: '▾'; }
.swagger-ui .unfold:focus-visible { outline: 2px solid; outline-offset: 2px; }
.swagger-ui .unfold span { display: inline-block; min-width: 3em; font-weight: 700; }

@media (max-width: 640px) {
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { flex: 1 0 100%; order: 1; padding: 0; }
  .swagger-ui .parameters, .swagger-ui .parameters > tbody, .swagger-ui .parameters tr,
  .swagger-ui .parameters-col_name, .swagger-ui .parameters-col_description { display: block; width: 100%; }
  .swagger-ui .parameters thead { display: none; }
  .swagger-ui .parameters .parameters-col_name { padding-bottom: 0; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select {
    width: 100%; max-width: none;
  }
  .swagger-ui .responses-inner { padding: 0.5rem; }
  .swagger-ui .responses-table { table-layout: fixed; }
  .swagger-ui .responses-table .response-col_status { width: 3.5rem; }
  .swagger-ui .responses-table .headers-wrapper { overflow-x: auto; }
}
`;
