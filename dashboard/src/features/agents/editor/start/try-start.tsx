import { useMutation } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useState } from "react";
import { api, type Schema } from "../../../../api/client.ts";
import { sentenceOf } from "../../../../api/problem.ts";
import { Badge } from "../../../../ui/badge.tsx";
import { Button } from "../../../../ui/button.tsx";
import { CodeBlock } from "../../../../ui/code-block.tsx";
import { SelectField } from "../../../../ui/form/fields.tsx";
import { latencyOf } from "../../../../ui/numbers.ts";
import { Notice } from "../../../../ui/states.tsx";
import { indented } from "../../../conversations/indented.ts";
import { requestText } from "../../../tools/try/tried.tsx";
import type { AgentDraft } from "../draft.ts";
import { CHANNELS, type StartChannel, type StartWebhook } from "./channels.ts";

/** Asks the server about a sample, with the changes that are not saved. */
export function TryStart({ draft, webhook }: { draft: AgentDraft; webhook: StartWebhook }) {
  const { agent, changes } = draft;
  const offered = webhook.channels ?? (Object.keys(CHANNELS) as StartChannel[]);
  const [chosen, setChosen] = useState<StartChannel>("chat");
  const channel = offered.includes(chosen) ? chosen : (offered[0] ?? "chat");
  const call = useMutation({
    mutationFn: () =>
      api.POST("/v1/public/agents/{agent_id}/start-webhook/try", {
        params: { path: { agent_id: agent.id } },
        body: { channel, draft: changes as never },
      }),
  });
  return (
    <section aria-label="Try the start webhook" className="flex flex-col gap-4 rounded-lg border border-line p-4">
      <SelectField
        label="Channel of the sample"
        value={channel}
        onChange={(next) => setChosen(next as StartChannel)}
        options={offered.map((value) => ({ value, label: CHANNELS[value] }))}
      />
      <div>
        <Button variant="primary" busy={call.isPending} onClick={() => call.mutate()}>
          {!call.isPending && <Play aria-hidden />} Ask the server
        </Button>
      </div>
      {call.error && <Notice tone="danger">{sentenceOf(call.error)}</Notice>}
      {call.data && !call.isPending && <Tried result={call.data} />}
    </section>
  );
}

function Tried({ result }: { result: Schema["TriedStartWebhook"] }) {
  const { request, status, answer, duration_ms, error } = result;
  return (
    <div className="flex flex-col gap-4">
      <p role="status" className="flex flex-wrap items-center gap-2">
        <Badge tone={error === null ? "success" : "danger"}>{error === null ? "Succeeded" : "Failed"}</Badge>
        {status !== null && <span>Status {status}</span>}
        <span className="text-muted tabular-nums">{duration_ms === 0 ? "under 1 ms" : latencyOf(duration_ms)}</span>
      </p>
      {error !== null && <Notice tone="danger">{error}</Notice>}
      {answer !== null && <Text name="Answer" text={indented(answer)} />}
      {request && <Text name="Request" text={requestText(request)} />}
    </div>
  );
}

function Text({ name, text }: { name: string; text: string }) {
  return (
    <div className="flex flex-col gap-1.5">
      <h3 className="font-medium">{name}</h3>
      <CodeBlock text={text} copied={name.toLowerCase()} className="max-h-72 pr-14! break-words whitespace-pre-wrap" />
    </div>
  );
}
