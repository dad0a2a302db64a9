import { ShownSecret } from "../../ui/shown-secret.tsx";

/** A webhook's new secret, which is shown once. */
export function WebhookSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <ShownSecret secret={secret} what="secret" onDone={onDone}>
      <p className="text-muted">
        Your server uses this secret to verify that requests come from Parley. Store it with your program's other
        secrets.
      </p>
    </ShownSecret>
  );
}
