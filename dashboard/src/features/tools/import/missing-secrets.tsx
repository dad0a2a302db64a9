import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { Notice } from "../../../ui/states.tsx";
import { SecretForm } from "../../secrets/secret-form.tsx";
import { secretsQuery } from "../../secrets/secrets.ts";
import { type ImportedTool, secretsOf } from "./imported.ts";

/** The secrets that tools name and the owner does not have yet. */
export function MissingSecrets({ tools }: { tools: readonly ImportedTool[] }) {
  const known = useQuery(secretsQuery).data?.map(({ name }) => name);
  const [adding, setAdding] = useState<string | null>(null);
  const missing = known ? [...new Set(tools.flatMap(secretsOf))].filter((name) => !known.includes(name)) : [];
  return (
    <>
      {missing.length > 0 && (
        <div className="w-full">
          <Notice tone="warning">
            <p>These tools need secrets that you have not added yet:</p>
            <div className="mt-2 flex max-h-24 flex-wrap gap-2 overflow-y-auto">
              {missing.map((name) => (
                <Button key={name} size="small" onClick={() => setAdding(name)}>
                  Add <code className="font-mono">{name}</code>
                </Button>
              ))}
            </div>
          </Notice>
        </div>
      )}
      <Dialog open={adding !== null} onClose={() => setAdding(null)} title="New secret">
        <SecretForm suggestedName={adding ?? ""} onSaved={() => setAdding(null)} onCancel={() => setAdding(null)} />
      </Dialog>
    </>
  );
}
