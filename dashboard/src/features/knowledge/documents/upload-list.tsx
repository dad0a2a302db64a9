import { Button } from "../../../ui/button.tsx";
import { percentOf } from "../../../ui/numbers.ts";
import type { Upload, Uploads } from "./use-uploads.ts";

/** Files that were chosen, with what became of each. */
export function UploadList({ uploads: { all, retry, clear } }: { uploads: Uploads }) {
  if (all.length === 0) return null;
  const areOver = all.some(({ state }) => state !== "waiting" && state !== "sending");
  return (
    <div className="flex flex-col gap-2 rounded-xl border border-line bg-raised p-4">
      <div className="flex items-center justify-between gap-3">
        <h2 className="font-medium">Uploads</h2>
        {areOver && (
          <Button variant="ghost" size="small" onClick={clear}>
            Clear
          </Button>
        )}
      </div>
      <ul aria-label="Uploads" aria-live="polite" className="flex flex-col gap-2">
        {all.map((each) => (
          <li key={each.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span dir="auto" className="min-w-0 flex-1 basis-40 truncate">
              {each.name}
            </span>
            {each.state === "sending" && (
              <progress
                aria-label={`Upload of ${each.name}`}
                value={each.share}
                className="h-1.5 w-32 accent-accent max-sm:flex-1"
              />
            )}
            <span className={each.state === "failed" ? "text-danger-ink" : "text-muted"}>{told(each)}</span>
            {each.state === "failed" && (
              <Button size="small" aria-label={`Try again: ${each.name}`} onClick={() => retry(each.id)}>
                Try again
              </Button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function told({ state, share, error }: Upload): string {
  switch (state) {
    case "waiting":
      return "Waiting";
    case "sending":
      return percentOf(share);
    case "sent":
      return "Uploaded";
    case "duplicate":
      return "Already here: a document has the same content";
    case "failed":
      return error ?? "Failed";
  }
}
