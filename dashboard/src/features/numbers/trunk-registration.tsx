import { Badge, type Tone } from "../../ui/badge.tsx";
import { Time } from "../../ui/time.tsx";
import type { Carrier } from "./queries.ts";

type Registration = NonNullable<Carrier["registration"]>;

const STATES: Record<Registration["state"], { label: string; tone: Tone }> = {
  REGISTERED: { label: "Registered", tone: "success" },
  REGISTERING: { label: "Registering", tone: "neutral" },
  REFUSED: { label: "Registration refused", tone: "danger" },
  UNREACHABLE: { label: "Trunk not responding", tone: "danger" },
  NOT_REGISTERING: { label: "No registration", tone: "neutral" },
};

/** The state of the registration with a SIP trunk, since when, and why. */
export function TrunkRegistration({ registration }: { registration: Registration }) {
  const { state, since, sip_status, reason } = registration;
  const { label, tone } = STATES[state];
  const why = [sip_status, reason].filter((part) => part !== null).join(" ");
  return (
    <div className="mt-2 flex flex-col items-start gap-1 text-xs text-muted">
      <p>
        <Badge tone={tone}>{label}</Badge> {since && <Time at={since} relative />}
      </p>
      {why !== "" && <p className="break-words">{why}</p>}
    </div>
  );
}
