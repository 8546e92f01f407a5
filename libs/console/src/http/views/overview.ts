export const OVERVIEW = `<% layout('@frame') %>
<p>Workspace <strong><%= it.frame.me.workspaceName %></strong>.</p>`;
