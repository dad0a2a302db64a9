/** A piece of text on a page, in points from the left and the bottom. */
export interface Placed {
  text: string;
  x: number;
  y: number;
  size?: number;
}

interface PdfParts {
  /** Entries of the trailer. */
  trailer?: string;
  /** How often it has its pages. */
  repeats?: number;
}

/** A PDF of pages with pieces of text. */
export function pdfOf(pages: readonly (readonly Placed[])[], { trailer = "", repeats = 1 }: PdfParts = {}): Uint8Array {
  const contents = pages.map((placed) =>
    placed
      .map(({ text, x, y, size = 11 }) => `BT /F1 ${size} Tf ${x} ${y} Td (${text.replace(/[()\\]/g, "\\$&")}) Tj ET`)
      .join("\n"),
  );
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${repeats * pages.length} /Kids [${pages
      .map((_, at) => `${4 + 2 * at} 0 R `)
      .join("")
      .repeat(repeats)}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...contents.flatMap((content, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * at} 0 R >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, at) => {
    const place = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  return Buffer.from(
    `${file}xref\n0 ${size}\n0000000000 65535 f \n${places.join("")}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${file.length}\n%%EOF\n`,
    "latin1",
  );
}
