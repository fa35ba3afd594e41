# The words of a text, for score.py: the segments of Unicode Standard Annex 29 (version 15.0.0) that have a letter, a number or a pictograph.
import decimal, math, re, struct
from xxh3 import xxh3

# Ranges of code points: the distance from the end of the range before, + and the length less 1, the class.
CLASSES = """22" 5' 5, 2. 2+9n 1: 1, 6+19a 5_ 2+19a 2fp 1a 3x 1p 4+1s 2a 2: 2s 1a 2+2s 2+16a 2+1ea 2+1dfa 7+21a 1+6fx 1+4a 2+1a 3+3a 1, 1a 7a 1: 1+2a
2a 2+13a 2+52a 2+8aa 2+6x 1+a5a 2+25a 3+3a 2a 1: 1+28a 1, 1a 7+2cx 2x 2+1x 2+1x 2x 9+1ah 5+3h 1a 1: c+5x 7+1, 3+ax 2x 4+2aa 1+14x 1+9n
2n 1, 2+1a 1x 1+62a 2a 1+7x 2+5x 1+1a 1+1x 2+3x 1+1a 1+9n 1+2a 3a 10x 1a 1x 1+1da 1+1ax 3+58a 1+ax 1a f+9n 1+20a 1+8x 1+1a 3, 2a 3x
3+15a 1+3x 1a 1+8x 1a 1+2x 1a 1+4x 13+18a 1+2x 5+aa 6+17a 2+5a 2+1x 7+7x 1+29a 1+39x 1+35a 1+2x 1a 1+11x 1a 1+6x 1+9a 1+1x 3+9n 2+fa
1+2x 2+7a 3+1a 3+15a 2+6a 2a 4+3a 3x 1a 1+6x 3+1x 3+2x 1a 9x 5+1a 2+2a 1+1x 3+9n 1+1a 3+5s 3a 2x 3+2x 2+5a 5+1a 3+15a 2+6a 2+1a 2+1a
2+1a 3x 2+4x 5+1x 3+2x 4x 8+3a 2a 8+9n 1+1x 1+2a 1x c+2x 2+8a 2+2a 2+15a 2+6a 2+1a 2+4a 3x 1a 1+7x 2+2x 2+2x 3a 10+1a 1+1x 3+9n aa 1+5x
2+2x 2+7a 3+1a 3+15a 2+6a 2+1a 2+4a 3x 1a 1+6x 3+1x 3+2x 8+2x 5+1a 2+2a 1+1x 3+9n 2a 1+5s bx 1a 2+5a 4+2a 2+3a 4+1a 2a 2+1a 4+1a 4+2a
4+ba 5+4x 4+2x 2+3x 3a 7x f+9n 1+2s e+4x 1+7a 2+2a 2+16a 2+fa 3x 1a 1+6x 2+2x 2+3x 8+1x 2+2a 3a 3+1a 1+1x 3+9n 9+6s 2a 1+2x 2+7a 2+2a
2+16a 2+9a 2+4a 3x 1a 1+6x 2+2x 2+3x 8+1x 7+1a 2+1a 1+1x 3+9n 2+1a 1x d+3x 1+8a 2+2a 2+28a 1+1x 1a 1+6x 2+2x 2+3x 1a 6+2a 1x 1+6s 1+2a
1+1x 3+9n 1+8s 2+5a 2+2x 2+11a 4+17a 2+8a 2a 3+6a 4x 5+5x 2x 2+7x 7+9n 3+1x e+2fs 1x 1+1s 1+6x 6+6s 1+7x 2+9n 28+1s 2s 2+4s 2+17s 2s
2+9s 1x 1+1s 1+8x 1s 3+4s 2s 2+6x 2+9n 3+3s 21a 18+1x 7+9n 1+9s 2x 2x 2x 5+1x 1+7a 2+23a 5+13x 2+1x 1+4a 1+ax 2+23x ax 3a+2as 1+13x 1s
1+9n 7+5s 1+3x 1+3s 1+2x 1s 1+2x 1+1s 1+6x 1+2s 1+3x 1+cs 1+bx 1s 1x 1+9n 1+3x 3+25a 2a 6a 3+2aa 2+14ca 2+3a 3+6a 2a 2+3a 3+28a 2+3a
3+20a 2+3a 3+6a 2a 2+3a 3+ea 2+38a 2+3a 3+42a 3+2x a+13s 4+fa 11+55a 3+5a 4+26ba 3+10a 2+19a 6+4aa 4+aa 8+11a 1+3x a+12a 1+2x c+11a 1+1x
d+ca 2+2a 2+1x d+33s 1+1fx 4s 5s 1x 3+9n 7+9s 12+4x 1+9n 7+58a 8+4a 1+1x 1+21a 1x 1a 6+45a b+1ea 2+bx 5+bx b+9n 1+1ds 3+4s c+2bs 5+19s
7+9n 1s 26+16a 1+4x 5+34s 1+9x 2+1cx 3x 1+9n 7+9n es 9+1ex 32+4x 1+2ea 1+10x 1+7a 4+9n 12+8x d+2x 1+1da 1+cx 1+1a 1+9n 1+2ba 1+dx d+23a
1+13x 9+9n 4+2a 1+9n 1+23a 3+8a 8+2aa 3+2a 11+2x 2+14x 1+3a 1x 1+5a 1x 1+1a 1+2x 1a 6+bfa 1+3fx 1+115a 3+5a 3+25a 3+5a 3+7a 2a 2a 2a
2+1ea 3+34a 2+6a 2a 4+2a 2+6a 4+3a 3+5a 5+ca 6+2a 2+6a 10x 1z 1+1x 9+1. b. 3: 3+4x 1_ dp 3+1_ 4, 5p b_ c+4x 2+9x 1s 1a 3+5s 6a 1+9s 7+ca
34+20x 12a 5a 3+9a 2a 4+4a 5p 2a 2a 2a 2+3a 2+9a 1e 3+3a 6+4a 5a 2+fs 1+28a 1s b+5p 10+1p 170+1p dp 60p 47p 1a+ap 5+2p 66+3bs 1b+ba 1e
1+26a 1+15s ab+1p bp ap 3b+3p 2+5p 2+bp 2+71p b+75p 3+ap 2p 2p 7p 4p 7p b+1p 10p 3p 5p 2p 5+2p 2p c+4p f+1ds 2+2p ap fp fp 175+1p 1d0+2p
14+1p 34p 5p ab+e4a 7+3a 1+2x 1+1a as 3+25a 2a 6a 3+37a 8a 10x 1+16a a+6a 2+6a 2+6a 2+6a 2+6a 2+6a 2+6a 2+6a 2+1fx 30a 1d6a 1+1s 1a+8s
1+5x 1p 1+4k 3+2s 1+1a 1p 4+55s 3+1x 1+1k 1+2s 1+5ak 2+3k 6+2aa 2+5da 4+3s b+1fa 31+fk 21+9s 1f+7s 2+es 21+9s ep 2p 18+es 11+2ek 2+57k
a9+19bfs 41+51ffs 1+48ca 44+2da 3+10ca 4+fa 1+9n 1+1a 15+2ea 1+3x 2+9x 2+1ea 1+1x 1+4fa 1+1x 17+c2a 6+1a 2a 2+4a 19+fa 1x 1+2a 1x 1+3a
1x 1+16a 1+4x 5x 4+5s b+33a d+1x 1+31a 1+11x b+9n 7+11x 1+5a 4a 2+1a 1x 1+9n 1+1ba 1+7x 3+16a 1+cx d+1ca 4+3x 1+2ea 1+dx fa 1+9n 7+4s 1x
1+9s 1+9n 1+4s 2+28a 1+dx a+2a 1x 1+7a 1+1x 3+9n 7+16s 4s 1+2x 1+31s 1x 1s 1+2x 1+1s 1+1x 1+4s 1+1x 1s 1x 1s 19+2s 3+aa 1+4x 3+2a 1+1x
b+5a 3+5a 3+5a a+6a 2+6a 2+39a 7+72a 1+7x 2+1x 3+9n 7+2ba3a d+16a 5+30a 2105+16ds 3+69s 27+6a d+4a 6h 1x 1+9h 2+ch 2+4h 2h 2+1h 2+1h
2+9h 1+61a 22+16aa 13+3fa 3+35a 29+ba 5+fx 1, 3: 1, c+fx 4+1_ 19+2_ 1, 2. 2, 1: 1b+4a 2+86a 3x 8. 5, 2. 2+9n 1: 1, 6+19a 5_ 2+19a c+37k
1+1x 1+1ea 4+5a 3+5a 3+5a 3+2a 1d+2x 5+ba 2+19a 2+12a 2+1a 2+ea 3+da 23+7aa d+2cs d+34a 1+3s 12+1s 72x 83+1ca 4+30a 10x 1+1as 5+1fa 1+3s
a+1da 6+25a 1+4x 6+1da 3+23a 5+7a 2+4a 2b+9da 3+9n 7+23a 5+23a 5+27a 9+33a d+aa 2+ea 2+6a 2+1a 2+aa 2+ea 2+6a 2+1a 44+136a a+15a b+7a
19+5a 2+29a 2+8a 46+5a 3a 2+2ba 2+1a 4a 3+16a 3+7s 1+16a 3+6s 1+1ea 9+8s 31+12a 2+1a 6+4s 1+15a 1+5s 5+19a 47+37a 5+1s 1+1a 1+fs 3+2ds
1a 1+2x 2+1x 6+3x 1+3a 2+2a 2+1ca 3+2x 5x 1+8s 18+1ca 1+1s 2+1ca 1+2s 21+7a 2+1ba 1+1x 5+4s 11+35a b+15a 3+7s 1+12a 6+7s 1+11a 18+6s
51+48a 38+32a e+32a 8+5s 1+23a 1+3x 9+9n 127+1es 2+29a 2+1x 4+1a 4c+2x 1+1ca 1+9s 1a 9+15a 1+ax 1+3s 1c+11a 1+3x 2b+14a 1+6s 15+16a a+2x
1+34a 1+ex c+13s 1+9n 1x 1+1a 1+1x 1a a+3x 1+2ca 1+ax 3x 5x bx 3+18a 8+9n 7+2x 1+23a 1+dx 2+9n 5a 1+1x 1a 9+22a 1x 3a a+2x 1+2fa 1+dx
1+3a 5+3x 2+1x 1+9n 1a 2a 5+13s c+11a 2+18a 1+bx 7x 1+1a 1x 3f+6a 2a 2+3a 2+ea 2+9a 8+2ea 1+bx 6+9n 7+3x 2+7a 3+1a 3+15a 2+6a 2+1a 2+4a
2+1x 1a 1+6x 3+1x 3+2x 3a 7x 6+4a 1+1x 3+6x 4+4x 8c+34a 1+11x 1+3a 6+9n 5x 1+2a 1f+2fa 1+13x 1+1a 2a 9+9n a7+2ea 1+6x 3+8x 18+3a 1+1x
23+2fa 1+10x 4a c+9n 27+2aa 1+cx 1a 8+9n 37+1as 3+ex 5+9n 1+1s 5+6s ba+2ba 1+ex 66+3fa 1+9n 1+8s d+7a 3a 3+7a 2+1a 2+17a 1+5x 2+1x 3+3x
1a 1x 1a 1+1x d+9n 47+7a 3+26a 1+6x 3+6x 1a 2a 1x 1ca 1+9x 1+27a 1+6x 1a 1+3x 9x 9a 1+ax 1+2da 1+fx 4a 13+48a 108+8a 2+24a 1+7x 2+7x 1a
10+9n 1+12s 6+1da 3+15x 2+dx 4a+6a 2+1a 2+25a 1+5x 4x 2+1x 2+6x 1a 1x 9+9n 7+5a 2+1a 2+1fa 1+4x 2+1x 2+4x 1a 8+9n 137+12a 1+3x a+1x 1a
1x 1+ca 2+21a 1+6x 4+4x e+9n 57a 10+14s 2c+399a 67+6ea 12+c3a a4d+60a 10+42fa 1+10x 1+5a 1+ex fab+246a 21ba+238a 8+1ea 2+9n 7+4ea 2+9n
7+1da 3+4x c+2fa 1+6x a+3a d+9n 2+6s 2+14a 6+12a 2b1+3fa 1+16s 6a+4aa 5x 1a 1+36x 8+3x 1+ca 41+1a 2a 1x c+1x f+17f7s 9+4d5s 2b+8s
22e8+3k 2+6k 2+1k 2k 1+11es 1+2k 10s 1e+2s 3k f+3k 9+18bs 905+6aa 6+ca 4+8a 8+9a 4+1x 2+3x 125d+2dx 3+16x 21f+4x 4+15x 3+6x 1f+3x 95+2x
7c+13s d+13s 6d+18s 88+54a 2+46a 2+1a 3a 3+1a 3+3a 2+ba 2a 2+6a 2+40a 2+3a 3+7a 2+6a 2+1ba 2+3a 2+4a 2a 4+6a 2+153a 3+18a 2+18a 2+1ea
2+18a 2+1ea 2+18a 2+1ea 2+18a 2+1ea 2+18a 2+7a 3+31n 201+36x 5+31x 9x fx 17+4x 2+ex 451+1ea 7+5a d6+6x 2+10x 3+6x 2+1x 2+4x 6+3da 22x
71+2ca 4+6x 1+6a 3+9n 5a 142+1da 1x 12+2ba 1+3x 1+9n 1d7+1ba 1+3x 1+9n 2e7+6a 2+3a 2+1a 2+ea 2+c4a 3+8s 1+6x 2a+43a 1+6x 1a 5+9n 318+3as
2+2s 2+3s 4d+2cs 2+es c3+3a 2+1aa 2+1a 2a 3a 2+9a 2+3a 2a 2a 7a 5a 2a 2a 2+2a 2+1a 2a 3a 2a 2a 2a 2a 2+1a 2a 3+3a 2+6a 2+3a 2+3a 2a 2+9a
2+10a 6+2a 2+4a 2+10a 145+ffp 1+cs 1+2p 20p 1+19a 7+19a 3+3p 1+1e 1+ba 1+1e 1+9a 5p 3+9p 13+38p 1+19r 2+ep bp 15p 3+8p 2+3p a+1b1p 1+4x
1+13dp 9+109p 31+7fp 75+bp 56+2ap d+3p 39+7p b+5p 29+7p 1f+51p d+2ep 2+9p 2+1b8p f1+9n 7+3fdp 3+a6dfs 21+1039s 7+dds 3+1681s f+1d30s
c20+21ds 5e3+134as 6+105fs adc52x 1f+5fx 81+efx"""
# Ranges of code points above 0x7f, / of every second one, and behind > the distance to their simple case folding.
FOLDS = """b5>307 b+16>20 2+6>20 22+2e/>1 4+4/>1 3+e/>1 3+2c/>1 2>-79 1+4/>1 2>-10c 2>d2 1+2/>1 2>ce 1>1 2+1>cd 1>1 3>4f 1>ca 1>cb 1>1 2>cd 1>cf
2>d3 1>d1 1>1 4>d3 1>d5 2>d6 1+4/>1 2>da 1>1 2>da 3>1 2>da 1>1 2+1>d9 1+2/>1 2>db 1>1 4>1 8>2 1>1 2>2 1>1 2>2 1+10/>1 3+10/>1 3>2 1+2/>1
2>-61 1>-38 1+26/>1 2>-82 2+10/>1 8>2a2b 1>1 2>-a3 1>2a28 3>1 2>-c3 1>45 1>47 1+8/>1 f7>74 2b+2/>1 4>1 9>74 7>26 2+2>25 2>40 2+1>3f
2+10>20 2+8>20 17>1 d>8 1>-1e 1>-19 4>-f 1>-16 2+16/>1 2>-36 1>-30 3>-3c 1>-40 2>1 2>-7 1>1 3+2>-82 1+f>50 1+1f>20 31+20/>1 a+34/>1 2>f
1+c/>1 3+5e/>1 3+25>30 b4a+25>1c60 2>1c60 6>1c60 32b+5>-8 883>-184e 1>-184d 1>-1844 1+1>-1842 1>-1843 1>-183c 1>-1824 1>89c3 8+2a>-bc0
3+2>-bc0 141+94/>1 7>-3a 3>-1dbf 2+5e/>1 a+7>-8 9+5>-8 b+7>-8 9+7>-8 9+5>-8 c+6/>-8 9+7>-8 19+7>-8 9+7>-8 9+7>-8 9+1>-8 1+1>-4a 1>-9
2>-1c05 a+3>-56 1>-9 c+1>-8 1+1>-64 d+1>-8 1+1>-70 1>-7 c+1>-80 1+1>-7e 1>-9 12a>-1d5d 4>-20bf 1>-2046 7>1c 2e+f>10 14>1 333+19>1a
731+2f>30 31>1 2>-29f7 1>-ee6 1>-29e7 3+4/>1 2>-2a1c 1>-29fd 1>-2a1f 1>-2a1e 2>1 3>1 9+1>-2a3f 1+62/>1 9+2/>1 5>1 794e+2c/>1 14+1a/>1
88+c/>1 4+3c/>1 b+2/>1 2>-8a04 1+8/>1 5>1 2>-a528 3+2/>1 4+12/>1 2>-a544 1>-a54f 1>-a54b 1>-a541 1>-a544 2>-a512 1>-a52a 1>-a515 1>3a0
1+e/>1 2>-30 1>-a543 1>-8a38 1+2/>1 7>1 6+2/>1 1d>1 37b+4f>-97d0 5362+19>20 4c6+27>28 89+23>28 9d+a>27 2+e>27 2+6>27 2+1>27 6eb+32>40
bee+1f>20 5581+1f>20 7aa1+21>22"""

def ranges(text):
    last = 0
    for gap, more, step, value in re.findall(r"([0-9a-f]+?)(?:\+([0-9a-f]+?))?(/?)(>-?[0-9a-f]+|[ahenk_xz:,.'\"rps])(?=\s|$)", text):
        lo = last + int(gap, 16)
        last = lo + int(more or "0", 16)
        for c in range(lo, last + 1, 2 if step else 1):
            yield c, value

CLASS = dict(ranges(CLASSES))
FOLD = {c: c + int(value[1:], 16) for c, value in ranges(FOLDS)}
LOGARITHMS = [0.0] + [float(decimal.Decimal(n).ln()) for n in range(1, 256)]
LETTERS = set("ahe")

def fold(word):
    return "".join(chr(FOLD.get(ord(c), ord(c) + 32 if "A" <= c <= "Z" else ord(c))) for c in word)

def classes(text):
    return [CLASS.get(ord(c), " ") for c in text]

def skip(kinds, at):  # behind the marks of a character; whether a joiner is the last of them
    start = at
    while at < len(kinds) and kinds[at] in "xz":
        at += 1
    return at, at > start and kinds[at - 1] == "z"

def segment(kinds, at):  # the end of the segment that begins at a position, and whether it is a word
    kind, flags = kinds[at], 1
    word, at = kind != "_", at + 1
    while True:
        at, joins = skip(kinds, at)
        if at == len(kinds):
            return at, word
        next, n = kinds[at], 1
        letter, number = kind in LETTERS, kind == "n"
        if not (joins and next in "pe" or (letter or number) and next in "ahen_" or kind == "k" and next in "k_" or kind == "_" and next in "ahenk_"):
            if kind == "r" and next == "r" and flags == 1:
                flags = 2
            elif letter and next in ":.'" or kind == "h" and next == '"' or number and next in ",.'":
                behind, _ = skip(kinds, at + 1)
                third = kinds[behind] if behind < len(kinds) else " "
                if third == "h" if next == '"' else third in LETTERS if letter else third == "n":
                    at, next = behind, third
                elif kind == "h" and next == "'":
                    return skip(kinds, at + 1)[0], word
                else:
                    return at, word
            else:
                return at, word
        at, kind = at + n, next
        word = word or kind != "_"

def words(text):  # start, end and whether it is a letter of a script without blanks, of each word
    kinds, at = classes(text), 0
    while at < len(kinds):
        if kinds[at] not in "ahenk_rps":
            at += 1
            continue
        end, word = segment(kinds, at)
        if word:
            yield at, end, kinds[at] == "s"
        at = end

def tokens(text, form):
    if form == "chars":
        runs = []
        for lo, hi, single in words(text):
            if single and runs and runs[-1][2] and runs[-1][1] == lo:
                runs[-1][1] = hi
            else:
                runs.append([lo, hi, single])
        for lo, hi, _ in runs:
            word = "<" + fold(text[lo:hi]) + ">"
            for n in (3, 4, 5):
                for i in range(len(word) - n + 1):
                    yield word[i:i + n]
        return
    last, end, alone = None, -1, False
    for lo, hi, single in words(text):
        word = fold(text[lo:hi][:64])
        yield word
        if single and alone and lo == end:
            yield last + word
        elif form == "2" and last is not None:
            yield last + " " + word
        last, end, alone = word, hi, single

def features(column, text):
    of = column["words"]
    bits = of["hash_bits"]
    number = {bucket: i for i, bucket in enumerate(of.get("buckets") or range(2 ** bits))}
    counts = {}
    for token in tokens(text, of.get("form", "")):
        i = number.get(xxh3(token) % 2 ** bits)
        if i is not None:
            counts[i] = counts.get(i, 0) + 1
    values = {}
    for i in sorted(counts):
        more = max(counts[i].bit_length() - 8, 0)
        values[i] = (1 + (LOGARITHMS[counts[i] >> more] + more * math.log(2))) * (of["idf"][i] if "idf" in of else 1)
    length = 0.0
    for v in values.values():
        length += v * v
    x = [0.0] * len(number)
    for i, v in values.items():
        x[i] = struct.unpack("f", struct.pack("f", v / math.sqrt(length)))[0]
    return x
