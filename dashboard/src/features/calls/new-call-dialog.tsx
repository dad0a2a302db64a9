import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { fieldsOf, sentenceBeside } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { FormActions } from "../../ui/form/form-actions.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Notice } from "../../ui/states.tsx";
import { CallFields, NEW_CALL, setupBody } from "./call-fields.tsx";
import { plainNumber } from "./plain-number.ts";
import { CALLS } from "./queries.ts";

/** Asks for the number that an agent should call. */
export function NewCallDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="New call">
      <CallForm onDone={onClose} />
    </Dialog>
  );
}

function CallForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [setup, setSetup] = useState(NEW_CALL);
  const [to, setTo] = useState("");
  const [values, setValues] = useState<Record<string, string>>({});
  const variables = useVariables(setup.agentId);
  const call = useMutation({
    mutationFn: () => {
      const filled = Object.fromEntries(
        Object.entries(values).filter(([name, text]) => text !== "" && variables.includes(name)),
      );
      return ask(
        api.POST("/v1/public/calls", {
          body: {
            ...setupBody(setup),
            to_mobile_number: plainNumber(to),
            dynamic_variables: filled,
          },
        }),
      );
    },
    onSuccess: async () => {
      tellDone("Call queued");
      onDone();
      await client.invalidateQueries({ queryKey: CALLS });
    },
  });
  const errors = fieldsOf(call.error);
  const failure = sentenceBeside(call.error, ["to_mobile_number", "agent_id", "from_mobile_number", "voicemail"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    call.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      <Field label="Phone number" hint="For example, +14155550123." error={errors.get("to_mobile_number")}>
        {(control) => (
          <Input {...control} type="tel" required value={to} onChange={(event) => setTo(event.target.value)} />
        )}
      </Field>
      <CallFields setup={setup} onChange={setSetup} errors={errors}>
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
      </CallFields>
      {failure && <Notice tone="danger">{failure}</Notice>}
      <FormActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={call.isPending} disabled={setup.agentId === ""}>
          Call
        </Button>
      </FormActions>
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
