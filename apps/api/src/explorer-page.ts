/** Served beside the parts of Swagger UI, and like them from this origin only. */
export const EXPLORER_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
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

/** What Swagger UI leaves to the page, or gets wrong for this API. */
export const EXPLORER_STYLE = `html { box-sizing: border-box; }
*, *::before, *::after { box-sizing: inherit; }
body { margin: 0; background: #fafafa; }
noscript { display: block; padding: 2rem; font: 1rem sans-serif; }

/* It speaks of an end user, whom client credentials do not know. */
.swagger-ui .scope-def { display: none; }
/* No answer of this API has links. */
.swagger-ui .response-col_links { display: none; }
/* Nothing here may be sent empty; what is left empty is left out. */
.swagger-ui .parameter__empty_value_toggle { display: none; }
.swagger-ui .renderedMarkdown code { font-size: 0.95em; padding: 0 0.25em; }
/* Stock boxes of scopes are not displayed, so that no key reaches them; what is seen is their label. */
.swagger-ui .checkbox { position: relative; }
.swagger-ui .checkbox input[type='checkbox'] { display: block; position: absolute; opacity: 0; }
.swagger-ui .checkbox input[type='checkbox']:focus-visible + label > .item { outline: 2px solid; outline-offset: 2px; }
.swagger-ui .auth-container input[type='text'], .swagger-ui .auth-container input[type='password'] {
  width: 100%; max-width: 30em;
}

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
