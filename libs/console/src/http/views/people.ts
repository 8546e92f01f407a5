import { input, select } from './field';

export const PEOPLE = {
  people: `<% layout('@frame') %>
<p>Who may use this console. A change acts on the person’s next request.</p>
<% if (it.errors.people) { %><p class="notice bad"><%= it.errors.people %></p><% } %>
<div class="table"><table class="stacked">
<thead><tr><th scope="col">Name</th><th scope="col">E-mail</th><th scope="col">Role</th><th scope="col">Last sign-in</th><th scope="col">Change</th></tr></thead>
<tbody>
<% for (const one of it.people) { const other = one.role === 'admin' ? 'viewer' : 'admin'; %>
<tr><td><%= one.name %><% if (one.id === it.frame.me.personId) { %> (you)<% } %></td>
<td data-label="E-mail"><%= one.email %></td>
<td data-label="Role"><%= one.role %></td>
<td data-label="Last sign-in"><%= one.state === 'closed' ? 'did not come within 14 days: add again' : it.time(one.signedInAt) %></td>
<td><div class="actions">
<form method="post" action="/people/<%= one.id %>/role"><%~ include('@fields', it) %><input type="hidden" name="role" value="<%= other %>"><button class="plain">Make <%= other === 'admin' ? 'administrator' : 'viewer' %><span class="hidden"> of <%= one.name %></span></button></form>
<form method="post" action="/people/<%= one.id %>/remove"><%~ include('@fields', it) %><button class="bad">Remove<span class="hidden"> <%= one.name %></span></button></form>
</div></td></tr>
<% } %>
</tbody></table></div>
<h2>Add a person</h2>
<form method="post" action="/people" class="fields"><%~ include('@fields', it) %>
${input('name', 'Name', 'As the audit shows it.', 'required maxlength="200"')}
${input('email', 'E-mail', 'The address of the account that the person signs in with.', 'type="email" required maxlength="254"')}
${select('role', 'Role', 'A viewer sees everything but applications and people. An administrator changes it.', `[['viewer', 'viewer'], ['admin', 'administrator']]`)}
<% if (it.hasIssuer) { %>${input('subject', 'Subject', 'Only for an issuer that verifies no addresses, such as Entra: the id of the account.', 'maxlength="255"')}<% } %>
<button>Add person</button>
</form>`,
};
