import { tellDone } from "../../../ui/overlay/toasts.tsx";
import type { StoredDocument } from "./upload.ts";

export function tellReplaced({ name, duplicate }: StoredDocument): void {
  tellDone(duplicate ? `“${name}” has this content already` : `Reading the new content of “${name}”`);
}

export function tellAdded({ name, duplicate }: StoredDocument): void {
  tellDone(duplicate ? `“${name}” has this content already` : `Reading “${name}”`);
}
