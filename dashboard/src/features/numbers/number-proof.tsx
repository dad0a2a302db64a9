import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf, sentenceOf } from "../../api/problem.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Notice } from "../../ui/states.tsx";
import { NUMBERS, type OwnNumber } from "./queries.ts";

/** Whether its owner has proven that a number is theirs, and how to do it. */
export function NumberProof({ number: { mobile_number, state, note } }: { number: OwnNumber }) {
  const [isProving, setProving] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2">
      {state === "PROVEN" && <Badge tone="success">Proven</Badge>}
      {state === "UNPROVEN" && <Badge>Unproven</Badge>}
      {state === "REPLACED" && <Badge tone="danger">Another owner's</Badge>}
      {state !== "PROVEN" && (
        <Button size="small" onClick={() => setProving(true)}>
          Prove
        </Button>
      )}
      {note && <p className="w-full text-xs text-muted">{note}</p>}
      <Dialog open={isProving} onClose={() => setProving(false)} title={`Prove that ${mobile_number} is yours`}>
        <ProofForm number={mobile_number} onDone={() => setProving(false)} />
      </Dialog>
    </div>
  );
}

/** Proves a number by the code that a call to it tells. */
export function ProofForm({ number, onDone }: { number: string; onDone: () => void }) {
  const client = useQueryClient();
  const [code, setCode] = useState("");
  const params = { path: { mobile_number: number } };
  const call = useMutation({
    mutationFn: () => api.POST("/v1/manage/mobile-numbers/{mobile_number}/code-calls", { params }),
  });
  const prove = useMutation({
    mutationFn: () =>
      api.POST("/v1/manage/mobile-numbers/{mobile_number}/proof", { params, body: { code: code.trim() } }),
    onSuccess: async () => {
      tellDone(`${number} is proven to be yours`);
      onDone();
      await client.invalidateQueries({ queryKey: NUMBERS });
    },
  });
  return (
    <DialogForm onSubmit={() => prove.mutate()} busy={prove.isPending} error={prove.error} action="Prove">
      <p className="text-muted">
        A number of a Twilio or Plivo account is proven when you import it. For any other, have the number called, and
        enter the six digits that the call tells. The operator of this installation can also vouch for you.
      </p>
      <div>
        <Button busy={call.isPending} onClick={() => call.mutate()}>
          Call {number}
        </Button>
      </div>
      {call.isSuccess && <Notice>The number is being called. The code is valid for ten minutes.</Notice>}
      {call.isError && <Notice tone="danger">{sentenceOf(call.error)}</Notice>}
      <TextField
        label="Code"
        error={fieldsOf(prove.error).get("code")}
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        maxLength={6}
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
    </DialogForm>
  );
}
