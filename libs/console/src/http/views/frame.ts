/** The frame of every page, and parts that pages share. */
export const FRAME = {
  frame: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title><%= it.title %> – Compliance console</title>
<link rel="stylesheet" href="/console.css">
<script src="/console.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<% if (it.frame) { %>
<header>
<nav aria-label="Pages" class="menu">
<% for (const label of it.frame.menu) { const page = label.toLowerCase(); %>
<a href="/<%= page === 'overview' ? '' : page %>"<% if (page === it.frame.current) { %> aria-current="page"<% } %>><%= label %></a>
<% } %>
</nav>
<span class="who"><%= it.frame.me.personName %>, <a href="/workspaces"><%= it.frame.me.workspaceName %></a></span>
<form method="post" action="/sign-out"><%~ include('@fields', it) %><button class="plain">Sign out</button></form>
</header>
<% } %>
<main id="main">
<h1><%= it.title %></h1>
<% if (it.notice) { %><p class="notice" role="status"><%= it.notice %></p><% } %>
<%~ it.body %>
</main>
</body>
</html>`,
  fields: `<input type="hidden" name="csrf" value="<%= it.frame.fields.csrf %>"><input type="hidden" name="workspace" value="<%= it.frame.fields.workspace %>">`,
  error: `<% const reason = it.errors[it.name]; if (reason) { %><p class="error" id="<%= it.name %>-error"><%= reason.startsWith(it.name + ' ') ? 'This field' + reason.slice(it.name.length) : reason %></p><% } %>`,
  invalid: `<% if (it.errors[it.name]) { %> aria-invalid="true" aria-describedby="<%= it.name %>-error" autofocus<% } %>`,
  refusal: `<p class="notice bad"><%= it.detail %></p>
<p class="soft">Request <code><%= it.requestId %></code></p>
<p><a href="/">To the overview</a></p>`,
};
