import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Copyable } from "../../ui/copy.tsx";
import { ConfirmButton } from "../../ui/overlay/confirm-button.tsx";
import { Time } from "../../ui/time.tsx";
import { accountOf, PROVIDERS } from "./providers.ts";
import { CARRIERS, type Carrier, numbersQuery } from "./queries.ts";
import { TrunkRegistration } from "./trunk-registration.tsx";
import { TrunkTarget } from "./trunk-target.tsx";

export function CarrierList({ carriers }: { carriers: readonly Carrier[] }) {
  return (
    <ul aria-label="Carriers" className="grid grid-cols-[minmax(0,1fr)] gap-4 md:grid-cols-[repeat(2,minmax(0,1fr))]">
      {carriers.map((carrier) => (
        <li
          key={carrier.carrier_id}
          className="flex items-start justify-between gap-3 rounded-xl border border-line bg-raised p-4"
        >
          <div className="min-w-0">
            <p className="font-semibold">{PROVIDERS[carrier.provider].label}</p>
            <p className="truncate font-mono text-xs text-muted">{accountOf(carrier) || "One account"}</p>
            {carrier.registration && <TrunkRegistration registration={carrier.registration} />}
            {carrier.registration?.state === "NOT_REGISTERING" && (
              <div className="mt-2">
                <TrunkTarget transport={carrier.transport} isByAddress />
              </div>
            )}
            {carrier.provider === "WHATSAPP" && <Callback carrier={carrier} />}
            <p className="mt-2 text-xs text-muted">
              Connected <Time at={carrier.created_at} relative />
            </p>
          </div>
          <Disconnect carrier={carrier} />
        </li>
      ))}
    </ul>
  );
}

/** What a Meta app needs besides the verify token before messages arrive (docs/whatsapp.md#connect-a-number). */
function Callback({ carrier: { carrier_id } }: { carrier: Carrier }) {
  return (
    <div className="mt-2 text-xs text-muted">
      <p>
        In your Meta app, under WhatsApp &gt; Configuration, enter this callback URL and your verify token. Then
        subscribe to the field “messages”.
      </p>
      <Copyable text={`${location.origin}/v1/carriers/whatsapp/${carrier_id}`} what="callback URL" />
    </div>
  );
}

function Disconnect({ carrier }: { carrier: Carrier }) {
  const client = useQueryClient();
  const { label } = PROVIDERS[carrier.provider];
  const name = [label, accountOf(carrier)].filter(Boolean).join(" ");
  const numbers = useQuery(numbersQuery).data;
  const hasNumbers = numbers?.some(({ carrier_id }) => carrier_id === carrier.carrier_id);
  const params = { path: { carrier_id: carrier.carrier_id } };
  return (
    <ConfirmButton
      button={{ size: "small" }}
      label="Disconnect"
      title={`Disconnect ${name}?`}
      action="Disconnect"
      write={() => api.DELETE("/v1/manage/carriers/{carrier_id}", { params })}
      done={`Disconnected ${name}`}
      then={() => client.invalidateQueries({ queryKey: CARRIERS })}
      impossible={hasNumbers ? "Its phone numbers are still here. Remove them first." : undefined}
    >
      This deletes its credentials from Parley.
    </ConfirmButton>
  );
}
