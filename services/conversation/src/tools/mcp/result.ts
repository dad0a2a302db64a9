import type { CallToolResult } from "@modelcontextprotocol/client";
import { storable } from "../../store/storable.ts";
import { MODEL_BYTES_MAX, withRestNoted } from "../http/answer.ts";

type Content = CallToolResult["content"][number];

/** What the model is told of a result: its texts; what is no text is named. */
export function textOfResult(result: CallToolResult, mask: (text: string) => string): string {
  const texts = result.content.map(textOfContent).filter((text) => text !== "");
  const text = texts.length > 0 ? texts.join("\n\n") : textOfStructure(result.structuredContent);
  return withRestNoted(mask(storable(text)), MODEL_BYTES_MAX);
}

function textOfContent(content: Content): string {
  switch (content.type) {
    case "text":
      return content.text;
    case "resource":
      return "text" in content.resource
        ? content.resource.text
        : `[A file, which is not shown: ${content.resource.uri}]`;
    case "resource_link":
      return `[A file: ${content.name}, ${content.uri}]`;
    case "image":
      return `[An image, which is not shown: ${content.mimeType}]`;
    case "audio":
      return `[Audio, which is not played: ${content.mimeType}]`;
    default:
      return "";
  }
}

function textOfStructure(structure: unknown): string {
  return structure === undefined ? "The tool succeeded without a result." : JSON.stringify(structure);
}
