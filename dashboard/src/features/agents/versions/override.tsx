import { Link } from "@tanstack/react-router";
import { Problem, sentenceOf } from "../../../api/problem.ts";
import { TextField } from "../../../ui/form/fields.tsx";
import { Notice } from "../../../ui/states.tsx";

/** Whether only required tests are in the way, which whoever is signed in may override. */
export function isOverridable(error: Error | null): boolean {
  return error instanceof Problem && error.status === 409 && error.fields.has("override");
}

/** Why versions do not get conversations: each reason on a line, and a field for the reason to do it all the same. */
export function PublishRefusal({
  error,
  agentId,
  version,
  reason,
  onReason,
  onLeave,
}: {
  error: Error | null;
  agentId: string;
  /** The one whose tests are to be run. */
  version: number;
  reason: string;
  onReason: (reason: string) => void;
  /** Closes the dialog that it is in, because the tests are elsewhere. */
  onLeave: () => void;
}) {
  if (error === null) return null;
  const violations = error instanceof Problem ? error.violations : [];
  const listed = error instanceof Problem && error.status === 409 && violations.length > 0;
  return (
    <>
      <Notice tone="danger">
        {listed ? (
          <>
            <p className="font-medium">
              {isOverridable(error) ? "Required tests have not passed:" : "This cannot be published:"}
            </p>
            <ul className="mt-1 list-disc pl-5">
              {violations.map((violation) => (
                <li key={violation} className="break-words">
                  {violation}
                </li>
              ))}
            </ul>
          </>
        ) : (
          sentenceOf(error)
        )}
      </Notice>
      {isOverridable(error) && (
        <TextField
          label="Reason to publish without them"
          hint={<OverrideHint agentId={agentId} version={version} onLeave={onLeave} />}
          required
          maxLength={500}
          value={reason}
          onChange={({ target }) => onReason(target.value)}
        />
      )}
    </>
  );
}

function OverrideHint({ agentId, version, onLeave }: { agentId: string; version: number; onLeave: () => void }) {
  return (
    <>
      It stands in the publish log. Better:{" "}
      <Link
        to="/agents/$agentId"
        params={{ agentId }}
        search={{ tab: "tests", run: "all", version }}
        onClick={onLeave}
        className="text-accent-ink hover:underline"
      >
        run the tests
      </Link>{" "}
      first.
    </>
  );
}
