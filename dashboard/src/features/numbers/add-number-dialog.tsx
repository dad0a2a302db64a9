import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, patiently } from "../../api/client.ts";
import { fieldsOf, Problem, sentenceOf } from "../../api/problem.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { SelectField, TextField } from "../../ui/form/fields.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone, tellFailure } from "../../ui/overlay/toasts.tsx";
import { Notice, Skeleton } from "../../ui/states.tsx";
import { ProofForm } from "./number-proof.tsx";
import { accountOf, PROVIDERS } from "./providers.ts";
import { type Carrier, NUMBERS } from "./queries.ts";
import { TrunkTarget } from "./trunk-target.tsx";

/** Imports a number of a connected carrier. */
export function AddNumberDialog({
  open,
  onClose,
  carriers,
}: {
  open: boolean;
  onClose: () => void;
  carriers: readonly Carrier[];
}) {
  const usable = carriers.filter(({ provider }) => PROVIDERS[provider].hasNumbers);
  const [chosen, setChosen] = useState("");
  const carrier = usable.find(({ carrier_id }) => carrier_id === chosen) ?? usable[0];
  return (
    <Dialog open={open} onClose={onClose} title="Add a number">
      {carrier ? (
        <div className="flex flex-col gap-5">
          <SelectField
            label="Carrier"
            value={carrier.carrier_id}
            onChange={setChosen}
            options={usable.map((each) => ({
              value: each.carrier_id,
              label: PROVIDERS[each.provider].label,
              hint: accountOf(each),
            }))}
          />
          <CarrierNumbers key={carrier.carrier_id} carrier={carrier} onDone={onClose} />
        </div>
      ) : (
        <div className="pb-2">
          <Notice>Connect a carrier first: Twilio, Plivo, or a SIP trunk.</Notice>
        </div>
      )}
    </Dialog>
  );
}

function useImport(carrier: Carrier) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (mobile_number: string) =>
      api.POST("/v1/manage/carriers/{carrier_id}/numbers", {
        params: { path: { carrier_id: carrier.carrier_id } },
        body: { mobile_number },
      }),
    onSuccess: async (_, mobile_number) => {
      tellDone(`Calls to ${mobile_number} now reach Parley`);
      await Promise.all([
        client.invalidateQueries({ queryKey: NUMBERS }),
        client.invalidateQueries({ queryKey: ["carrier numbers"] }),
      ]);
    },
  });
}

/** The account's numbers; a trunk cannot list them, so its owner types one. */
function CarrierNumbers({ carrier, onDone }: { carrier: Carrier; onDone: () => void }) {
  const params = { path: { carrier_id: carrier.carrier_id } };
  const isListed = carrier.provider !== "SIP";
  const numbers = useQuery({
    queryKey: ["carrier numbers", carrier.carrier_id],
    queryFn: async ({ signal }) =>
      (await api.GET("/v1/manage/carriers/{carrier_id}/numbers", { params, signal, fetch: patiently })).numbers,
    enabled: isListed,
  });
  const bring = useImport(carrier);
  if (!isListed) return <TypedNumber carrier={carrier} onDone={onDone} />;
  if (numbers.isPending) return <Skeleton className="h-24" />;
  if (numbers.isLoadingError) return <Notice tone="danger">{sentenceOf(numbers.error)}</Notice>;
  if (numbers.data.length === 0) return <Notice>This account has no phone numbers yet.</Notice>;
  return (
    <ul aria-label="Numbers in the account" className="divide-y divide-line rounded-lg border border-line">
      {numbers.data.map(({ mobile_number, name, takes_calls, imported }) => (
        <li key={mobile_number} className="flex items-center gap-3 px-3 py-2.5">
          <span className="min-w-0 flex-1">
            <span className="block font-medium tabular-nums">{mobile_number}</span>
            {name && name !== mobile_number && <span className="block truncate text-xs text-muted">{name}</span>}
          </span>
          {imported ? (
            <Badge tone="success">Imported</Badge>
          ) : takes_calls ? (
            <Button
              size="small"
              busy={bring.isPending && bring.variables === mobile_number}
              disabled={bring.isPending}
              onClick={() => bring.mutate(mobile_number, { onError: tellFailure })}
            >
              Import
            </Button>
          ) : (
            <Badge>No voice</Badge>
          )}
        </li>
      ))}
    </ul>
  );
}

function TypedNumber({ carrier, onDone }: { carrier: Carrier; onDone: () => void }) {
  const [text, setText] = useState("");
  const bring = useImport(carrier);
  const fields = fieldsOf(bring.error);
  const [isProving, setProving] = useState(false);
  const isTaken = bring.error instanceof Problem && bring.error.status === 409;
  // Once it is proven, the import succeeds.
  if (isProving) return <ProofForm number={text.trim()} onDone={() => setProving(false)} />;
  return (
    <DialogForm
      onSubmit={() => bring.mutate(text.trim(), { onSuccess: onDone })}
      busy={bring.isPending}
      error={bring.error}
      action="Import"
      other={isTaken && <Button onClick={() => setProving(true)}>Prove that it is yours</Button>}
    >
      <TextField
        label="Phone number"
        hint="For example, +14155550123."
        error={fields.get("mobile_number")}
        type="tel"
        required
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <TrunkTarget transport={carrier.transport} />
    </DialogForm>
  );
}
