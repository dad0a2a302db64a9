import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { read } from "../../../../api/client.ts";
import { Checkbox } from "../../../../ui/form/checkbox.tsx";
import { FieldError } from "../../../../ui/form/field.tsx";
import { Section, Sections } from "../../../../ui/form/section.tsx";
import { ErrorState, Skeleton } from "../../../../ui/states.tsx";
import { assignableAgentsQuery } from "../../../numbers/queries.ts";
import type { AgentDraft } from "../draft.ts";
import { StartSection } from "../start/start-section.tsx";
import { CallsSection } from "./calls-section.tsx";
import { DailySection } from "./daily-section.tsx";
import { Snippet } from "./snippet.tsx";
import { WhatsAppSection } from "./whatsapp-section.tsx";
import { WidgetSection } from "./widget-section.tsx";

/** Where people reach the agent. */
export function ChannelsTab({ draft }: { draft: AgentDraft }) {
  return (
    <Sections>
      <Section title="Phone numbers" description="The agent answers calls to these numbers.">
        <Numbers draft={draft} />
      </Section>
      <CallsSection draft={draft} />
      <StartSection draft={draft} />
      <WidgetSection draft={draft} />
      <WhatsAppSection draft={draft} />
      <Section title="Your own app" description="Chat with the agent through the API, using one of your API keys.">
        <Snippet text={chatSnippet(draft.agent.id)} what="example" />
      </Section>
      <Section
        title="Web calls"
        description="Your server requests a call, and your page connects with the address and token it receives."
      >
        <Snippet text={callSnippet(draft.agent.id)} what="example" />
      </Section>
      <DailySection draft={draft} />
    </Sections>
  );
}

function Numbers({ draft: { agent, values, set, errorAt } }: { draft: AgentDraft }) {
  const agents = useQuery(assignableAgentsQuery);
  const numbers = useQuery({
    queryKey: ["mobile-numbers"],
    queryFn: async ({ signal }) =>
      (await read(signal, "/v1/public/mobile-numbers", { query: { include: "sip" } })).purchased_mobile_numbers,
  });
  const chosen = values.agent_mobile_number ?? [];
  if (numbers.isLoadingError) return <ErrorState error={numbers.error} onRetry={numbers.refetch} />;
  if (numbers.isPending) return <Skeleton className="h-12 w-full" />;
  const listed = [...new Set([...numbers.data.map(({ mobile_number }) => mobile_number), ...chosen])];
  if (listed.length === 0)
    return (
      <p className="rounded-lg border border-dashed border-line px-4 py-3 text-muted">
        No phone numbers yet.{" "}
        <Link to="/numbers" search={{}} className="text-accent-ink underline">
          Add a number
        </Link>{" "}
        to your account, then assign it to the agent here.
      </p>
    );
  const others = (agents.data ?? []).filter(({ id }) => id !== agent.id);
  const answering = (number: string) =>
    others.find(({ published_mobile_number }) => published_mobile_number.includes(number))?.agent_name;
  const isAuto = values.publishing !== "manual";
  const error = errorAt("agent_mobile_number");
  return (
    <div className="flex flex-col gap-2.5">
      {listed.map((number) => (
        <Checkbox
          key={number}
          checked={chosen.includes(number)}
          onChange={(on) =>
            set({ agent_mobile_number: on ? [...chosen, number] : chosen.filter((each) => each !== number) })
          }
          label={<span className="tabular-nums">{number}</span>}
          hint={answeredBy(answering(number), chosen.includes(number), isAuto)}
        />
      ))}
      <FieldError>{error}</FieldError>
    </div>
  );
}

function answeredBy(other: string | undefined, isChosen: boolean, isAuto: boolean): string | undefined {
  if (other === undefined) return undefined;
  if (!isChosen) return `Answered by ${other}`;
  return isAuto ? `Saving moves it here from ${other}` : `Answered by ${other}: take it away there before you publish`;
}

function chatSnippet(agentId: string): string {
  return `curl -N ${location.origin}/v1/public/chat \\
  -H "X-API-Key: $PARLEY_API_KEY" -H "Content-Type: application/json" \\
  -d '{ "agent_id": "${agentId}", "message": "Hello" }'`;
}

function callSnippet(agentId: string): string {
  return `curl ${location.origin}/v1/public/web-calls \\
  -H "X-API-Key: $PARLEY_API_KEY" -H "Content-Type: application/json" \\
  -d '{ "agent_id": "${agentId}" }'`;
}
