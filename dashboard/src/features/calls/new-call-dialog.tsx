import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { publishedAgentQuery } from "../agents/agents.ts";
import { variablesIn } from "../prompts/variables.ts";
import { CallFields, DEFAULT, setupBody, useCallSetup, useCanCall } from "./call-fields.tsx";
import { loadReader, PhoneNumberField } from "./phone-number-field.tsx";
import { CALLS } from "./queries.ts";
import { VariableFields } from "./variable-fields.tsx";

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
  const [setup, setSetup] = useCallSetup();
  const [to, setTo] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const agent = useQuery(publishedAgentQuery(setup.agentId)).data;
  const variables = variablesIn(agent?.prompt?.prompt_content ?? "", agent?.first_message_prompt ?? "");
  const from = setup.from === DEFAULT ? agent?.published_mobile_number[0] : setup.from;
  const call = useMutation({
    mutationFn: async () => {
      const given = variables.flatMap(({ name }) => (values[name] ? [[name, values[name]]] : []));
      const calledNumber = await loadReader();
      const body = {
        ...setupBody(setup),
        to_mobile_number: calledNumber(to, from),
        dynamic_variables: Object.fromEntries(given),
      };
      return api.POST("/v1/public/calls", { body });
    },
    onSuccess: async () => {
      tellDone("Call queued");
      onDone();
      await client.invalidateQueries({ queryKey: CALLS });
    },
  });
  const canCall = useCanCall(setup);
  const errors = fieldsOf(call.error);
  return (
    <DialogForm
      onSubmit={() => call.mutate()}
      busy={call.isPending}
      disabled={!canCall}
      error={call.error}
      action="Call"
      onCancel={onDone}
    >
      <PhoneNumberField value={to} onChange={setTo} from={from} error={errors.get("to_mobile_number")} />
      <CallFields setup={setup} onChange={setSetup} errors={errors}>
        <VariableFields variables={variables} values={values} onChange={setValues} />
      </CallFields>
    </DialogForm>
  );
}
