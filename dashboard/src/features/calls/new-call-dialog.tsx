import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { Problem, sentenceOf } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Notice } from "../../ui/states.tsx";
import { agentNamesQuery } from "../conversations/queries.ts";
import { numbersQuery } from "../numbers/queries.ts";
import { CALLS } from "./queries.ts";

/** Asks whom an agent is to call. */
export function NewCallDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="New call">
      <CallForm onDone={onClose} />
    </Dialog>
  );
}

const DEFAULT = "default";
const VOICEMAIL = [
  { value: DEFAULT, label: "Talk to whoever answers" },
  { value: "hang_up", label: "Hang up" },
  { value: "leave_message", label: "Leave the agent’s message" },
];

function CallForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const agents = useQuery(agentNamesQuery).data;
  const numbers = useQuery(numbersQuery).data;
  const [agentId, setAgentId] = useState("");
  const [to, setTo] = useState("");
  const [from, setFrom] = useState(DEFAULT);
  const [voicemail, setVoicemail] = useState(DEFAULT);
  const [values, setValues] = useState<Record<string, string>>({});
  const variables = useVariables(agentId);
  const call = useMutation({
    mutationFn: () => {
      const filled = Object.fromEntries(
        Object.entries(values).filter(([name, text]) => text !== "" && variables.includes(name)),
      );
      return ask(
        api.POST("/v1/public/calls", {
          body: {
            agent_id: agentId,
            to_mobile_number: to.replaceAll(/[\s()-]/g, ""),
            dynamic_variables: filled,
            ...(from !== DEFAULT && { from_mobile_number: from }),
            ...(voicemail !== DEFAULT && { voicemail: voicemail as "hang_up" | "leave_message" }),
          },
        }),
      );
    },
    onSuccess: async () => {
      tellDone("The call is in the queue");
      onDone();
      await client.invalidateQueries({ queryKey: CALLS });
    },
  });
  const errors = call.error instanceof Problem ? call.error.fields : new Map<string, string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    call.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      <Field label="Phone number" hint="Such as +14155550123." error={errors.get("to_mobile_number")}>
        {(control) => (
          <Input {...control} type="tel" required value={to} onChange={(event) => setTo(event.target.value)} />
        )}
      </Field>
      <Field label="Agent" error={errors.get("agent_id")}>
        {(control) => (
          <Select
            {...control}
            value={agentId}
            onChange={setAgentId}
            placeholder="Choose an agent…"
            options={[...(agents ?? [])].map(([value, label]) => ({ value, label }))}
          />
        )}
      </Field>
      {variables.map((name) => (
        <Field key={name} label={<code className="font-mono text-[0.8125rem]">{name}</code>} optional>
          {(control) => (
            <Input
              {...control}
              value={values[name] ?? ""}
              onChange={(event) => setValues({ ...values, [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <Field label="Call from" error={errors.get("from_mobile_number")}>
        {(control) => (
          <Select
            {...control}
            value={from}
            onChange={setFrom}
            options={[
              { value: DEFAULT, label: "The agent’s first number" },
              ...(numbers ?? []).map(({ mobile_number }) => ({ value: mobile_number, label: mobile_number })),
            ]}
          />
        )}
      </Field>
      <Field label="If a machine answers" error={errors.get("voicemail")}>
        {(control) => <Select {...control} value={voicemail} onChange={setVoicemail} options={VOICEMAIL} />}
      </Field>
      {call.error && errors.size === 0 && <Notice tone="danger">{sentenceOf(call.error)}</Notice>}
      <div className="flex justify-end gap-2 pb-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={call.isPending} disabled={agentId === ""}>
          Call
        </Button>
      </div>
    </form>
  );
}

/** The names of the variables in the agent's prompt and greeting. */
function useVariables(agentId: string): string[] {
  const variables = useQuery({
    queryKey: ["variables", agentId],
    queryFn: async ({ signal }) => {
      const params = { path: { agent_id: agentId } };
      return (await ask(api.GET("/v1/public/agents/{agent_id}/dynamic-variables", { params, signal })))
        .dynamic_variables;
    },
    enabled: agentId !== "",
  });
  return variables.data?.map(({ variable_name }) => variable_name) ?? [];
}
