import { ShownSecret } from "../../ui/shown-secret.tsx";

/** A tool's new signing secret, which is shown once. */
export function SigningSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <ShownSecret secret={secret} what="signing secret" onDone={onDone}>
      <p className="text-muted">
        Every request of the tool is signed with it, as Standard Webhooks describes. Your server can verify that
        requests come from Parley; other servers ignore it.
      </p>
    </ShownSecret>
  );
}
