//! Renders the Markdown of clauses and findings as HTML: headings, paragraphs, lists, tables, code, bold,
//! emphasis and links. Everything else is text. Every text is escaped, and no HTML passes through.

use std::fmt::Write as _;

/// Where a link of the text leads: a page of the site, or nowhere.
pub(super) type Resolve<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The HTML of a text.
pub(super) fn html(text: &str, resolve: Resolve<'_>) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        if let Some(info) = line.strip_prefix("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            let _ = writeln!(
                out,
                "<pre tabindex=\"0\" data-language=\"{}\">{}</pre>",
                escaped(info),
                escaped(&code.join("\n"))
            );
            continue;
        }
        if let Some((level, title)) = heading(line) {
            let _ = writeln!(out, "<h{level}>{}</h{level}>", inline(title, resolve));
            continue;
        }
        let mut block = vec![line];
        let kind = Kind::of(line);
        while let Some(next) = lines.next_if(|next| kind.goes_on(next)) {
            block.push(next);
        }
        match kind {
            Kind::Paragraph => {
                let _ = writeln!(out, "<p>{}</p>", inline(&block.join("\n"), resolve));
            }
            Kind::List => list(&block, resolve, &mut out),
            Kind::Table => table(&block, resolve, &mut out),
        }
    }
    out
}

/// The level in the page, which has a heading of its own, and the text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let title = title.strip_prefix(' ')?;
    (1..=6).contains(&level).then_some(((level + 1).clamp(2, 6), title))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paragraph,
    List,
    Table,
}

impl Kind {
    fn of(line: &str) -> Kind {
        match line {
            _ if line.starts_with("- ") => Kind::List,
            _ if line.starts_with('|') => Kind::Table,
            _ => Kind::Paragraph,
        }
    }

    /// Whether the line belongs to the block.
    fn goes_on(self, line: &str) -> bool {
        let ends = line.trim().is_empty() || line.starts_with("```") || heading(line).is_some();
        match self {
            _ if ends => false,
            Kind::Paragraph => Kind::of(line) == Kind::Paragraph,
            Kind::List => line.starts_with("- ") || line.starts_with("  "),
            Kind::Table => line.starts_with('|'),
        }
    }
}

fn list(lines: &[&str], resolve: Resolve<'_>, out: &mut String) {
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        match (line.strip_prefix("- "), items.last_mut()) {
            (None, Some(item)) => {
                item.push('\n');
                item.push_str(line.trim_start());
            }
            (first, _) => items.push(first.unwrap_or(line).to_owned()),
        }
    }
    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", inline(item, resolve))).collect();
    let _ = writeln!(out, "<ul>\n{items}</ul>");
}

fn table(lines: &[&str], resolve: Resolve<'_>, out: &mut String) {
    let is_rule = |line: &&str| line.chars().all(|char| "|-: ".contains(char));
    let row = |line: &str, tag: &str| {
        let cells = cells(line);
        let cells: String =
            cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", inline(cell, resolve))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let has_head = lines.get(1).is_some_and(is_rule);
    let head = if has_head { format!("<thead>{}</thead>\n", row(lines[0], "th")) } else { String::new() };
    let body: String = lines[if has_head { 2 } else { 0 }..].iter().map(|line| row(line, "td")).collect();
    let _ = writeln!(
        out,
        "<div class=\"wide\" tabindex=\"0\"><table>{head}<tbody>\n{body}</tbody></table></div>"
    );
}

/// The cells of a row. A `\|` is no border.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    let hidden = inner.replace("\\|", "\u{1}");
    hidden.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

/// The HTML of a text within a line.
pub(super) fn inline(text: &str, resolve: Resolve<'_>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(place) = rest.find(['`', '*', '[', '<', '\\']) {
        out += &escaped(&rest[..place]);
        rest = &rest[place..];
        let (html, length) = span(rest, resolve).unwrap_or_else(|| {
            let escapes = rest.starts_with('\\') && rest[1..].starts_with(|c: char| c.is_ascii_punctuation());
            let shown = if escapes { &rest[1..2] } else { &rest[..1] };
            (escaped(shown), if escapes { 2 } else { 1 })
        });
        out += &html;
        rest = &rest[length..];
    }
    out + &escaped(rest)
}

/// The span at the beginning of a text, and its length.
fn span(text: &str, resolve: Resolve<'_>) -> Option<(String, usize)> {
    if let Some(rest) = text.strip_prefix('`') {
        let end = rest.find('`')?;
        return Some((format!("<code>{}</code>", escaped(&rest[..end])), end + 2));
    }
    if let Some(rest) = text.strip_prefix("**") {
        let end = rest.find("**").filter(|&end| end > 0)?;
        return Some((format!("<b>{}</b>", inline(&rest[..end], resolve)), end + 4));
    }
    if let Some(rest) = text.strip_prefix('*') {
        let end =
            rest.find('*').filter(|&end| end > 0 && !rest.starts_with(' ') && !rest[..end].ends_with(' '))?;
        return Some((format!("<em>{}</em>", inline(&rest[..end], resolve)), end + 2));
    }
    if let Some(rest) = text.strip_prefix('<') {
        let end = rest.find('>')?;
        let url = &rest[..end];
        return is_external(url).then(|| (link(url, &escaped(url)), end + 2));
    }
    let rest = text.strip_prefix('[')?;
    let middle = rest.find("](")?;
    // Brackets within the text of a link would be those of another.
    if rest[..middle].contains('[') {
        return None;
    }
    let end = middle + 2 + rest[middle + 2..].find(')')?;
    let (label, target) = (inline(&rest[..middle], resolve), &rest[middle + 2..end]);
    let target = if is_external(target) { Some(target.to_owned()) } else { resolve(target) };
    Some((target.map_or_else(|| label.clone(), |target| link(&target, &label)), end + 2))
}

fn is_external(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

fn link(target: &str, label: &str) -> String {
    format!("<a href=\"{}\">{label}</a>", escaped(target))
}

/// The text with the characters escaped that mean something in HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        html(text, &|target| (target == "here.md").then(|| "there.html".into()))
    }

    #[test]
    fn blocks_and_spans_become_html() {
        for (text, expected) in [
            ("a **b** `c<d` *e*\nf", "<p>a <b>b</b> <code>c&lt;d</code> <em>e</em>\nf</p>\n"),
            ("# One\ntwo", "<h2>One</h2>\n<p>two</p>\n"),
            ("- a\n  b\n- c", "<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>\n"),
            (
                "```python\na < b\n```\nc",
                "<pre tabindex=\"0\" data-language=\"python\">a &lt; b</pre>\n<p>c</p>\n",
            ),
            (
                "[in](here.md) [out](https://a.b/?c&d) [gone](x.md)",
                "<p><a href=\"there.html\">in</a> <a href=\"https://a.b/?c&amp;d\">out</a> gone</p>\n",
            ),
            ("2 * 3 * 4 and a_b \\*c\\*", "<p>2 * 3 * 4 and a_b *c*</p>\n"),
            (
                "| a | b |\n|---|--:|\n| `1` | x\\|y |",
                "<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>a</th><th>b</th></tr>\n</thead>\n<tbody>\n\
              <tr><td><code>1</code></td><td>x|y</td></tr>\n</tbody></table></div>\n",
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn no_html_passes_through() {
        for text in [
            "<script>alert(1)</script>",
            "[a](javascript:alert(1))",
            "[<b>](https://a\" onclick=\"x)",
            "`<img src=x>` **<img>** | <i>",
            "```\"><script>\n</pre><script>\n```",
            "| <script> |\n|---|\n| </td><script> |",
            "<javascript:x>",
        ] {
            let html = shown(text);
            for forbidden in ["<script", "<img", "<i>", "href=\"javascript", "\" onclick", "</pre><"] {
                assert!(!html.contains(forbidden), "{text}: {html}");
            }
        }
    }

    #[test]
    fn what_is_never_closed_is_text() {
        for text in
            ["`a", "**a", "*a", "[a", "[a](b", "<a", "\\", "```", "|", "- ", "#", "**", "a\\", "é`é[é"]
        {
            shown(text);
        }
        assert_eq!(shown("`a **b"), "<p>`a **b</p>\n");
    }
}
