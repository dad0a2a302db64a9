/**
 * What several groups of pages use. Each group imports all of it, so that it is one script: the bundler makes a script of its own for
 * each set of groups that share something, and a page would load two dozen.
 */
import "../api/client.ts";
import "../api/watch-events.ts";
import "../features/agents/agent-field.tsx";
import "../features/agents/agents.ts";
import "../features/agents/provider-labels.ts";
import "../features/agents/tests/queries.ts";
import "../features/calls/queries.ts";
import "../features/conversations/filters.ts";
import "../features/conversations/names.tsx";
import "../features/conversations/queries.ts";
import "../features/conversations/tool-call-card.tsx";
import "../features/keys/keys.ts";
import "../features/secrets/secret-form.tsx";
import "../features/secrets/secrets.ts";
import "../features/statistics/period-select.tsx";
import "../features/statistics/queries.ts";
import "../features/webhooks/queries.ts";
import "../ui/card.tsx";
import "../ui/chart.tsx";
import "../ui/code-block.tsx";
import "../ui/copy.tsx";
import "../ui/form/checkbox.tsx";
import "../ui/form/field.tsx";
import "../ui/form/form-actions.tsx";
import "../ui/form/input.tsx";
import "../ui/form/search-input.tsx";
import "../ui/form/select.tsx";
import "../ui/listed.tsx";
import "../ui/numbers.ts";
import "../ui/overlay/confirm.tsx";
import "../ui/overlay/menu.tsx";
import "../ui/overlay/popover.tsx";
import "../ui/overlay/toasts.tsx";
import "../ui/segments.tsx";
import "../ui/tabs.tsx";
import "../ui/time.tsx";
import "./account-menu.tsx";
import "./failures.tsx";
import "./navigation.ts";
import "./search-params.ts";
