/** Start: the form for another team. */
import { html } from "../html.js";
import { Heading } from "../parts/common.js";
import { TeamForm } from "../parts/teamform.js";

export const Start = () => html`<div class="narrow"><${Heading} title="Start a team" /><${TeamForm} /></div>`;
