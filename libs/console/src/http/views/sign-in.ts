import { form } from './field';

const WORKSPACE = `<%= one.workspaceId === it.frame.me.workspaceId ? 'Stay in' : 'Switch to' %> <%= one.name %>`;

export const SIGN_IN = {
  signIn: `<% if (it.hasIssuer) { %>
<p>Sign in with the account of your organisation.</p>
<p><a class="button" href="/sign-in/start">Sign in</a></p>
<% } else { %>
<p>This console signs people in by a one-time link. Make one on this machine:</p>
<pre><code>npm run --silent admin -- console link</code></pre>
<% } %>`,
  signInLink: `<p>This link signs you in once.</p>
<form method="post"><input type="hidden" name="csrf" value="<%= it.csrf %>"><button>Sign in</button></form>`,
  workspaces: `<% if (it.workspaces.length < 2) { %><p>You have access to this workspace only.</p><% } %>
<% for (const one of it.workspaces) { %>
${form('/workspaces', '<input type="hidden" name="to" value="<%= one.workspaceId %>">', WORKSPACE, 'plain')}
<% } %>`,
};
