import { useQuery } from "@tanstack/react-query";
import { Copyable } from "../../ui/copy.tsx";
import { carriersQuery } from "./queries.ts";

/**
 * Says where a SIP trunk sends its calls if they do not come over a registration (docs/carriers.md#sip-trunks).
 * @param isByAddress whether it is known to use none
 */
export function TrunkTarget({
  transport,
  isByAddress = false,
}: {
  transport: string | undefined;
  isByAddress?: boolean;
}) {
  const known = useQuery(carriersQuery).data;
  if (!known) return null;
  const isTls = transport === "TLS";
  const address = isTls ? known.sip_tls_address : known.sip_address;
  return (
    <div className="text-[0.8125rem] text-muted">
      {address ? (
        <>
          <p>
            {isByAddress ? "Have" : "Unless your trunk uses a registration, have"} it send calls to this address, with
            the number in E.164 form:
          </p>
          <Copyable text={`sip:${address}${isTls ? ";transport=tls" : ""}`} what="address for calls" />
        </>
      ) : (
        <p>
          This server does not take SIP calls{isTls && " over TLS"} at an address of its own. Ask its operator to set
          PARLEY_SIP_LISTEN{isTls && " and PARLEY_SIP_TLS_CERT"}.
        </p>
      )}
    </div>
  );
}
