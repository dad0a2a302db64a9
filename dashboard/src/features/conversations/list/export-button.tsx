import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { numberOf } from "../../../ui/numbers.ts";
import { tellDone, tellFailure } from "../../../ui/overlay/toasts.tsx";
import type { AgentNames } from "../../agents/agents.ts";
import type { Filters } from "../filters.ts";
import { readConversations } from "../queries.ts";
import { conversationsCsv, EXPORT_PAGE_SIZE, type ReadPage, readAll } from "./export.ts";

/** Saves the conversations that match the filters as a CSV file. */
export function ExportButton({ filters, names }: { filters: Filters; names: AgentNames | undefined }) {
  const [progress, setProgress] = useState("");
  const save = useMutation({
    mutationFn: () => {
      const read: ReadPage = (wanted, until) => readConversations(wanted, { size: EXPORT_PAGE_SIZE, until });
      const tell = (done: number, total: number) => setProgress(`${numberOf(done)} of ${numberOf(total)}`);
      return readAll(read, filters, new Date(), tell);
    },
    onSuccess: ({ conversations, total }) => {
      saveFile(`conversations-${new Date().toISOString().slice(0, 10)}.csv`, conversationsCsv(conversations, names));
      if (conversations.length < total) tellDone(`Exported the newest ${numberOf(conversations.length)} conversations`);
    },
    onError: tellFailure,
    onSettled: () => setProgress(""),
  });
  return (
    <Button size="small" busy={save.isPending} onClick={() => save.mutate()}>
      {!save.isPending && <Download aria-hidden />} {save.isPending ? `Exporting ${progress}` : "Export CSV"}
    </Button>
  );
}

/** Has the browser save a text as a file. */
function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
